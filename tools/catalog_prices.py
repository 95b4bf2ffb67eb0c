#!/usr/bin/python3
"""Price files of AWS and Vantage -> a CSV for `trainyard … --prices`.

usage: tools/catalog_prices.py FILE [FILE ...] [--as-of YYYY-MM-DD] > prices.csv

Recognised by their content:
    aws pricing get-products --service-code AmazonEC2 --filters …    on-demand and standard reserved (no upfront), Linux, shared
    aws ec2 describe-spot-price-history                              spot: the newest of each zone, then the cheapest zone
    https://instances.vantage.sh/instances.json                      on-demand, Linux
Rows that are not Linux on shared tenancy are left out; how many is said on standard error.
"""

import argparse
import csv
import json
import pathlib
import sys

COLUMNS = ["item", "region", "price_type", "usd_per_hour", "as_of", "source"]


class BadInput(Exception):
    pass


def from_price_list(document, as_of, path):
    """PriceList holds JSON texts (CLI) or objects; units other than hours (the upfront fee) are not prices per hour."""
    left_out = 0
    for entry in document["PriceList"]:
        product = json.loads(entry) if isinstance(entry, str) else entry
        about = product["product"]["attributes"]
        plain = (
            about.get("operatingSystem") == "Linux"
            and about.get("tenancy") == "Shared"
            and about.get("preInstalledSw", "NA") == "NA"
            and about.get("capacitystatus", "Used") == "Used"
        )
        if not plain:
            left_out += 1
            continue
        item, region = about["instanceType"], about["regionCode"]
        date = as_of or product.get("publicationDate", "")[:10]
        for kind, terms in product["terms"].items():
            for term in terms.values():
                price_type = purchase_of(kind, term.get("termAttributes", {}))
                if price_type is None:
                    left_out += 1
                    continue
                for dimension in term["priceDimensions"].values():
                    usd = float(dimension["pricePerUnit"]["USD"])
                    if dimension["unit"] == "Hrs" and usd > 0:
                        yield [item, region, price_type, usd, date, f"aws pricing get-products ({path.name})"]
    if left_out:
        print(f"{path}: {left_out} products or terms are not Linux, shared, standard without upfront: left out", file=sys.stderr)


def purchase_of(kind, attributes):
    if kind == "OnDemand":
        return "on_demand"
    if attributes.get("OfferingClass") != "standard" or attributes.get("PurchaseOption") != "No Upfront":
        return None
    return {"1yr": "reserved_1y", "3yr": "reserved_3y"}.get(attributes.get("LeaseContractLength"))


def from_spot_history(document, as_of, path):
    newest = {}
    for price in document["SpotPriceHistory"]:
        if not price["ProductDescription"].startswith("Linux/UNIX"):
            continue
        key = (price["InstanceType"], price["AvailabilityZone"])
        if key not in newest or price["Timestamp"] > newest[key]["Timestamp"]:
            newest[key] = price
    cheapest = {}
    for (item, zone), price in newest.items():
        region = zone.rstrip("abcdefghijklmnopqrstuvwxyz")
        if (item, region) not in cheapest or float(price["SpotPrice"]) < float(cheapest[item, region]["SpotPrice"]):
            cheapest[item, region] = price
    for (item, region), price in sorted(cheapest.items()):
        source = f"aws ec2 describe-spot-price-history ({path.name}), {price['AvailabilityZone']}"
        yield [item, region, "spot", float(price["SpotPrice"]), as_of or price["Timestamp"][:10], source]


def from_vantage(document, as_of, path):
    if not as_of:
        raise BadInput(f"{path}: instances.json has no date; give --as-of YYYY-MM-DD")
    for instance in document:
        for region, systems in sorted(instance.get("pricing", {}).items()):
            price = systems.get("linux", {}).get("ondemand")
            if price not in (None, "", "N/A") and float(price) > 0:
                yield [instance["instance_type"], region, "on_demand", float(price), as_of, f"instances.vantage.sh ({path.name})"]


def rows_of(path, as_of):
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise BadInput(f"{path}: {e}") from e
    if isinstance(document, dict) and "PriceList" in document:
        return from_price_list(document, as_of, path)
    if isinstance(document, dict) and "SpotPriceHistory" in document:
        return from_spot_history(document, as_of, path)
    if isinstance(document, list) and document and "instance_type" in document[0]:
        return from_vantage(document, as_of, path)
    raise BadInput(f"{path}: neither get-products, describe-spot-price-history nor instances.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--as-of", default="")
    options = parser.parse_args()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    try:
        for path in options.files:
            out.writerows([*row[:3], f"{row[3]:.10g}", *row[4:]] for row in rows_of(path, options.as_of))
    except BadInput as e:
        print(f"error: {e}", file=sys.stderr)
        return 3
    except (KeyError, TypeError, ValueError) as e:
        print(f"error: a field is missing or not what AWS documents: {e!r}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
