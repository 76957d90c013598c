"""A server for each case, and one line about each: `name: pass`, or what went wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import pyarrow.flight as fl


class Server:
    """`tonnage serve` on free ports, over a store in memory or on disk."""

    def __init__(self, definitions="", store="memory:", arguments=(), http="127.0.0.1:0"):
        program = os.environ["TONNAGE"]
        listeners = ["--http", http, "--flight", "127.0.0.1:0"]
        command = [program, "serve", "--store", store, "--create", *listeners, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        lines = iter(self.process.stdout.readline, "ready\n")
        self.addresses = dict(re.match(r"(\w+) +(\S+)", line).groups() for line in lines)
        self.http, self.flight = self.addresses["HTTP"], self.addresses["Flight"]
        self.client = fl.connect(self.flight)
        if definitions:
            self.act("tonnage.Define", definitions.encode())

    def act(self, name, body=b""):
        return [r.body.to_pybytes() for r in self.client.do_action(fl.Action(name, body))]

    def jobs(self):
        deadline = time.time() + 30
        while time.time() < deadline:
            jobs = [json.loads(job) for job in self.act("tonnage.Jobs")]
            if jobs and all(job["state"] != "running" for job in jobs):
                return jobs
            time.sleep(0.05)
        raise AssertionError("jobs still run")

    def kill(self):
        self.process.kill()
        self.process.wait(60)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.process.returncode


def run_each(cases, start):
    """Runs each case against a server of its own, which `start` makes: of its number and an empty folder."""
    for number, case in enumerate(cases):
        with tempfile.TemporaryDirectory() as directory:
            server = start(number, directory)
            try:
                case(server)
                outcome = "pass"
            except Exception as error:  # a case that fails must not hide the others
                outcome = f"FAIL {type(error).__name__}: {error}".splitlines()[0]
                if os.environ.get("TONNAGE_ACCEPTANCE_TRACE"):
                    traceback.print_exc()
            finally:
                server.stop()
        print(f"{case.__name__}: {outcome}", flush=True)
    sys.exit(0)


def store_of(number, directory):
    """A store in memory and one on disk by turns."""
    return "memory:" if number % 2 == 0 else os.path.join(directory, "store")


def run_cases(cases, definitions=""):
    """Runs each case against a server of its own, in memory and on disk by turns."""
    run_each(cases, lambda *of: Server(definitions, store_of(*of)))
