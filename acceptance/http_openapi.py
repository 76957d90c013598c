"""The HTTP API against its own description: openapi-spec-validator and schemathesis."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request

from openapi_spec_validator import OpenAPIV31SpecValidator

from suite import run_cases


def description(server):
    with urllib.request.urlopen(server.http + "/v1/openapi.json") as answer:
        return json.load(answer)


def schemathesis(server, checks):
    """Many calls of each route, right and wrong ones, with these checks of the answers."""
    command = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run"]
    command += [server.http + "/v1/openapi.json", "--checks", ",".join(checks), "--seed", "1"]
    # Its answer has no end.
    command += ["--exclude-path", "/v1/events"]
    # A body that is text of another kind than its example is rarely made twice; that is no fault.
    command += ["--suppress-health-check", "filter_too_much"]
    command += ["--max-examples", os.environ.get("SCHEMATHESIS_EXAMPLES", "60"), "--no-color"]
    # It keeps examples for its next run beside itself.
    with tempfile.TemporaryDirectory() as place:
        ran = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=place
        )
    if ran.returncode:
        print(ran.stdout, file=sys.stderr)
    assert ran.returncode == 0, f"schemathesis ended with {ran.returncode}"


def the_description_is_valid(server):
    OpenAPIV31SpecValidator(description(server)).validate()


def no_call_makes_the_server_fail(server):
    schemathesis(server, ["not_a_server_error"])


def answers_are_as_described(server):
    schemathesis(
        server,
        ["status_code_conformance", "content_type_conformance", "response_schema_conformance"],
    )


run_cases(
    [the_description_is_valid, no_call_makes_the_server_fail, answers_are_as_described],
    "CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))",
)
