#!/usr/bin/env python3
"""ParallelCluster's own schema and validators on cluster files, without an account. usage: pcluster_schema.py FILE…

The validators ask EC2 for instance types, images and subnets. A stand-in answers from data/catalog/instances.csv and as any
account would; whatever else a validator wants to know of an account, it is not run. -v prints which ran and which did not.
"""

import asyncio
import csv
import logging
import os
import pathlib
import sys

import yaml
from marshmallow import ValidationError

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
from pcluster.aws.aws_api import AWSApi  # noqa: E402
from pcluster.aws.aws_resources import CapacityReservationInfo, ImageInfo, InstanceTypeInfo  # noqa: E402
from pcluster.config import common  # noqa: E402
from pcluster.schemas.cluster_schema import ClusterSchema  # noqa: E402
from pcluster.validators.common import FailureLevel, ValidatorContext  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MIN_RUN = 40  # fewer and the stand-in no longer fits the library: the check would prove nothing


class NeedsAccountError(Exception):
    pass


def instance_types():
    with (ROOT / "data/catalog/instances.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {row["type"]: row for row in rows}


def network(row):
    cards, efa = int(row["network_cards"] or 1), int(row["efa_interfaces"] or 0)
    # A card more than EFA interfaces: card 0 carries IP only (p6-b300).
    first = cards - efa if 0 < efa < cards else 0
    return {
        "EfaSupported": row["efa"] == "yes",
        "EfaInfo": {"MaximumEfaInterfaces": efa},
        "MaximumNetworkCards": cards,
        "NetworkCards": [
            {"NetworkCardIndex": i, "MaximumNetworkInterfaces": 2, "EfaSupported": efa > 0 and i >= first}
            for i in range(cards)
        ],
    }


def described(row):
    vcpu = int(row["vcpu"])
    data = {
        "InstanceType": row["type"],
        "VCpuInfo": {"DefaultVCpus": vcpu, "DefaultCores": max(1, vcpu // 2), "DefaultThreadsPerCore": 2},
        "MemoryInfo": {"SizeInMiB": int(float(row["memory_gib"]) * 1024)},
        "NetworkInfo": network(row),
        "ProcessorInfo": {"SupportedArchitectures": ["arm64" if row["arch"] == "arm64" else "x86_64"]},
        "InstanceStorageSupported": bool(row["local_nvme_gb"]),
        "PlacementGroupInfo": {"SupportedStrategies": ["cluster", "partition", "spread"]},
        "EbsInfo": {"EbsOptimizedSupport": "default"},
        "SupportedUsageClasses": ["on-demand", "spot", "capacity-block"],
    }
    if row["accelerator"] and not row["accelerator"].startswith(("Trn", "Inf")):
        data["GpuInfo"] = {"Gpus": [{"Manufacturer": "NVIDIA", "Count": int(row["accelerators"])}]}
    return InstanceTypeInfo(data)


class Ec2:
    """An account with one VPC, a public and a private subnet, and any Capacity Block one asks for."""

    def __init__(self, reserved):
        self.types = instance_types()
        self.reserved = reserved

    def get_instance_type_info(self, instance_type):
        return described(self.types[instance_type])

    def list_instance_types(self):
        return list(self.types)

    def get_supported_architectures(self, instance_type):
        return self.get_instance_type_info(instance_type).supported_architecture()

    def get_official_image_id(self, *_args, **_names):
        return "ami-0123456789abcdef0"

    def describe_image(self, ami_id):
        return ImageInfo({"ImageId": ami_id, "Architecture": "x86_64", "RootDeviceName": "/dev/sda1",
                          "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 45}}]})

    def get_subnet_vpc(self, _subnet):
        return "vpc-1"

    def get_subnet_avail_zone(self, _subnet):
        return "us-east-1a"

    def get_subnets_az_mapping(self, subnets):
        return {subnet: "us-east-1a" for subnet in subnets}

    def is_subnet_public(self, subnet):
        return subnet.endswith("a")

    def describe_subnets(self, subnets):
        return [{"SubnetId": s, "MapPublicIpOnLaunch": self.is_subnet_public(s)} for s in subnets]

    def describe_capacity_reservations(self, ids):
        one = {"InstanceType": self.reserved[0], "AvailabilityZone": "us-east-1a", "ReservationType": "capacity-block",
               "State": "active", "InstancePlatform": "Linux/UNIX", "TotalInstanceCount": 1000, "AvailableInstanceCount": 1000}
        return [CapacityReservationInfo({"CapacityReservationId": i, **one}) for i in ids]

    def run_instances(self, **_request):
        """A dry run: that the library can put the request together is all that is asked."""

    def get_instance_type_and_reservation_type_from_capacity_reservation(self, _id):
        return self.reserved

    def __getattr__(self, name):
        raise NeedsAccountError(name)


class Account:
    def __init__(self, reserved):
        self.aws_region = os.environ["AWS_DEFAULT_REGION"]
        self.ec2 = Ec2(reserved)

    def __getattr__(self, name):
        raise NeedsAccountError(name)


ran, not_run = set(), set()


def execute(arguments, validator):
    try:
        found = validator.execute(**arguments)
    except NeedsAccountError as missing:
        not_run.add(f"{type(validator).__name__}: {missing}")
        return []
    except Exception as error:  # as the library does: a validator that breaks is a finding
        return [f"{type(validator).__name__}: {error!r}"]
    ran.add(type(validator).__name__)
    return found


async def execute_async(arguments, validator):
    try:
        found = await validator.execute_async(**arguments)
    except NeedsAccountError as missing:
        not_run.add(f"{type(validator).__name__}: {missing}")
        return []
    ran.add(type(validator).__name__)
    return found


def sentence(finding):
    if isinstance(finding, str):
        return finding
    return f"{finding.level.name} {finding.validator_type}: {finding.message}"


def check(path):
    with open(path, encoding="utf-8") as file:
        source = yaml.safe_load(file)
    resources = [c for q in source["Scheduling"]["SlurmQueues"] for c in q["ComputeResources"]]
    AWSApi._instance = Account((resources[0].get("InstanceType"), "capacity-block"))
    try:
        cluster = ClusterSchema(cluster_name="demo").load(source)
    except ValidationError as error:
        return [str(error.messages)]
    cluster.source_config = source
    found = cluster.validate(context=ValidatorContext())
    return [sentence(f) for f in found if isinstance(f, str) or f.level == FailureLevel.ERROR]


def main():
    logging.disable(logging.CRITICAL)
    common.Resource._validator_execute_sync = staticmethod(execute)
    common.Resource._validator_execute_async = staticmethod(execute_async)
    asyncio.set_event_loop(asyncio.new_event_loop())
    files = [f for f in sys.argv[1:] if f != "-v"]
    wrong = [f"{f}: {line}" for f in files for line in check(f)]
    if len(ran) < MIN_RUN:
        wrong.append(f"only {len(ran)} validators ran: {sorted(ran)}; not run: {sorted(not_run)}")
    if "-v" in sys.argv:
        print(f"{len(ran)} ran: {', '.join(sorted(ran))}\n{len(not_run)} not run: {', '.join(sorted(not_run))}")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
