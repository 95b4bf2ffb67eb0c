#!/usr/bin/env python3
"""Check AWS request bodies against the service models that the AWS command line itself uses (botocore), offline.

usage: aws_request.py FILE_OR_DIRECTORY ...

A request is a file <service>.<operation>[.<label>].json, for example ec2.create-fleet.json: the body that
`aws <service> <operation> --cli-input-json file://...` takes. Other files are passed over. botocore checks
required and unknown keys, types and minima; enumerations, patterns and maxima are left to the server by botocore
and are checked here from the same model. Base64 user data must decode to a script that `bash -n` accepts.
Exit: 0 all requests are right, 1 some are not, 77 botocore is missing or no request was found.
"""

import base64
import json
import pathlib
import re
import subprocess
import sys

SKIPPED = 77
FILE_NAME = re.compile(r"^([a-z0-9]+)\.([a-z][a-z0-9-]*)(?:\.[A-Za-z0-9_-]+)?\.json$")


def unique_keys(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"key {key!r} twice")
    return dict(pairs)


class Model:
    """Service models of the installed botocore, and a matcher for their (Java) patterns."""

    def __init__(self):
        import botocore.session
        from botocore import xform_name
        from botocore.validate import ParamValidator

        self.session = botocore.session.get_session()
        self.xform_name = xform_name
        self.validator = ParamValidator()
        self.services = {}
        try:
            import regex  # knows \p{L}; Python's re does not
        except ImportError:
            regex = None
        self.regex = regex

    def input_shape(self, service, command):
        if service not in self.services:
            self.services[service] = self.session.get_service_model(service)
        model = self.services[service]
        for name in model.operation_names:
            if self.xform_name(name, "-") == command:
                return model.operation_model(name).input_shape
        raise ValueError(f"{service} has no operation {command}")

    def matches(self, pattern, text):
        """Whole-string match, as the services do it; True where the pattern cannot be read here."""
        engine = self.regex or re
        try:
            return engine.fullmatch(pattern, text) is not None
        except engine.error:
            return True


def limits(model, shape, value, place):
    """What botocore's own validation leaves out."""
    kind = shape.type_name
    known = shape.metadata
    if kind == "structure":
        for key, inner in value.items():
            if key in shape.members:
                yield from limits(model, shape.members[key], inner, f"{place}.{key}")
    elif kind == "list":
        if "max" in known and len(value) > known["max"]:
            yield f"{place}: {len(value)} entries, at most {known['max']}"
        for index, inner in enumerate(value):
            yield from limits(model, shape.member, inner, f"{place}[{index}]")
    elif kind == "map":
        if "max" in known and len(value) > known["max"]:
            yield f"{place}: {len(value)} entries, at most {known['max']}"
        for key, inner in value.items():
            yield from limits(model, shape.key, key, f"{place} key {key!r}")
            yield from limits(model, shape.value, inner, f"{place}.{key}")
    elif kind == "string":
        if getattr(shape, "enum", None) and value not in shape.enum:
            yield f"{place}: {value!r} is none of the {len(shape.enum)} values allowed"
        if "max" in known and len(value) > known["max"]:
            yield f"{place}: {len(value)} characters, at most {known['max']}"
        if "pattern" in known and not model.matches(known["pattern"], value):
            yield f"{place}: {value!r} does not match {known['pattern']}"
    elif kind in ("integer", "long") and "max" in known and value > known["max"]:
        yield f"{place}: {value}, at most {known['max']}"


def user_data_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "UserData":
                yield inner
            else:
                yield from user_data_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from user_data_of(inner)


def script_mistakes(encoded):
    try:
        script = base64.b64decode(encoded, validate=True)
    except ValueError as error:
        return [f"UserData is not base64: {error}"]
    if len(script) > 16384:
        return [f"UserData is {len(script)} bytes, at most 16384"]
    if not script.startswith(b"#!/bin/bash"):
        return ["UserData does not begin with #!/bin/bash: cloud-init would not run it"]
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, check=False)
    return [f"UserData: {done.stderr.decode(errors='replace').strip()}"] if done.returncode else []


def mistakes_in(model, service, command, text):
    try:
        body = json.loads(text, object_pairs_hook=unique_keys)
        shape = model.input_shape(service, command)
    except Exception as error:  # botocore raises its own kinds for an unknown service
        return [str(error)]
    report = model.validator.validate(body, shape)
    if report.has_errors():
        return [report.generate_report()]
    found = list(limits(model, shape, body, ""))
    for encoded in user_data_of(body):
        found += script_mistakes(encoded)
    return found


def requests_under(paths):
    for name in paths:
        path = pathlib.Path(name)
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            parts = FILE_NAME.match(file.name)
            if parts:
                yield file, parts.group(1), parts.group(2)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        model = Model()
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(SKIPPED)
    checked = 0
    wrong = 0
    for file, service, command in requests_under(sys.argv[1:]):
        checked += 1
        found = mistakes_in(model, service, command, file.read_text(encoding="utf-8"))
        for mistake in found:
            print(f"{file}: {mistake}")
        wrong += bool(found)
    print(f"{checked} requests, {wrong} wrong")
    sys.exit(1 if wrong else 0 if checked else SKIPPED)


if __name__ == "__main__":
    main()
