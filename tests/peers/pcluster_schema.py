#!/usr/bin/env python3
"""ParallelCluster's own schema on cluster files, without an account. usage: pcluster_schema.py FILE…"""

import sys

import yaml
from marshmallow import ValidationError
from pcluster.schemas.cluster_schema import ClusterSchema

wrong = False
for path in sys.argv[1:]:
    try:
        with open(path, encoding="utf-8") as file:
            ClusterSchema(cluster_name="demo").load(yaml.safe_load(file))
    except ValidationError as error:
        wrong = True
        print(f"{path}: {error.messages}")
sys.exit(1 if wrong else 0)
