#!/usr/bin/python3
"""catalog_prices.py on documents of the three forms, small but shaped as AWS documents them:
https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeSpotPriceHistory.html"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).with_name("catalog_prices.py")


def product(system, tenancy="Shared"):
    hourly = {"unit": "Hrs", "pricePerUnit": {"USD": "55.0400000000"}}
    reserved = {"LeaseContractLength": "3yr", "OfferingClass": "standard", "PurchaseOption": "No Upfront"}
    upfront = {"LeaseContractLength": "3yr", "OfferingClass": "standard", "PurchaseOption": "All Upfront"}
    return {
        "product": {"attributes": {"instanceType": "p5.48xlarge", "regionCode": "us-east-1", "operatingSystem": system,
                                   "tenancy": tenancy, "preInstalledSw": "NA", "capacitystatus": "Used"}},
        "publicationDate": "2026-11-20T00:00:00Z",
        "terms": {
            "OnDemand": {"a": {"termAttributes": {}, "priceDimensions": {"x": hourly}}},
            "Reserved": {
                "b": {"termAttributes": reserved,
                      "priceDimensions": {"x": {"unit": "Hrs", "pricePerUnit": {"USD": "23.777"}}}},
                "c": {"termAttributes": upfront,
                      "priceDimensions": {"x": {"unit": "Quantity", "pricePerUnit": {"USD": "500000"}}}},
            },
        },
    }


def spot(kind, zone, price, time):
    return {"InstanceType": kind, "AvailabilityZone": zone, "SpotPrice": price, "Timestamp": time,
            "ProductDescription": "Linux/UNIX"}


class CatalogPrices(unittest.TestCase):
    def run_tool(self, document, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "in.json"
            path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
            done = subprocess.run([sys.executable, TOOL, path, *options], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()[1:], done.stderr

    def test_price_list_takes_linux_on_demand_and_reserved_without_upfront(self):
        code, rows, err = self.run_tool({"PriceList": [json.dumps(product("Linux")), json.dumps(product("Windows"))]})
        self.assertEqual(code, 0)
        self.assertEqual(rows, ["p5.48xlarge,us-east-1,on_demand,55.04,2026-11-20,aws pricing get-products (in.json)",
                                "p5.48xlarge,us-east-1,reserved_3y,23.777,2026-11-20,aws pricing get-products (in.json)"])
        self.assertIn("2 products or terms", err)  # Windows, and all upfront

    def test_spot_history_takes_the_newest_of_each_zone_then_the_cheapest(self):
        history = [spot("p4d.24xlarge", "us-east-1a", "5.0", "2026-11-01T00:00:00Z"),
                   spot("p4d.24xlarge", "us-east-1a", "9.0", "2026-11-20T00:00:00Z"),
                   spot("p4d.24xlarge", "us-east-1b", "8.0", "2026-11-19T00:00:00Z")]
        code, rows, _ = self.run_tool({"SpotPriceHistory": history})
        self.assertEqual(code, 0)
        self.assertEqual(len(rows), 1)
        self.assertTrue(rows[0].startswith("p4d.24xlarge,us-east-1,spot,8,2026-11-19,"), rows[0])

    def test_vantage_needs_a_date(self):
        document = [{"instance_type": "g5.xlarge", "pricing": {"us-east-1": {"linux": {"ondemand": "1.006"}}}}]
        self.assertEqual(self.run_tool(document)[0], 3)
        code, rows, _ = self.run_tool(document, "--as-of", "2026-11-30")
        self.assertEqual(code, 0)
        self.assertEqual(rows, ["g5.xlarge,us-east-1,on_demand,1.006,2026-11-30,instances.vantage.sh (in.json)"])

    def test_anything_else_is_refused(self):
        for bad in ("", "{", "[]", "{}", '{"PriceList": [{}]}'):
            code, _, err = self.run_tool(bad)
            self.assertEqual(code, 3, bad)
            self.assertIn("error:", err)


if __name__ == "__main__":
    unittest.main()
