"""The rates of the Redis listener beside those of `redis-server`, on the same machine, in turns. Not
a part of `make acceptance`: run it on a machine that does nothing else.

    acceptance/run TARGET/release/tonnage redis_speed      or, with other sizes:
    TONNAGE=... python acceptance/redis_speed.py --rounds 5 --requests 400000

Both servers sync every second (`appendonly yes`, `appendfsync everysec`), but in the case that says
`always`. Each round measures each case on both servers; the table has the medians of the rounds: keys
a second, their ratio, and the processor time of each server for a key. `redis-benchmark` sends the
commands. Needs `redis-server` and `redis-benchmark`.
"""

import argparse
import csv
import io
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

KEYS = 1_000_000
# The goal is a ratio to redis-server.
CASES = [
    # Name, arguments of redis-benchmark, keys a command, durability, goal.
    ("PING, 50 connections", ["-c", "50", "-t", "ping_mbulk"], 1, "everysec", None),
    ("GET, 50 connections", ["-c", "50", "-t", "get"], 1, "everysec", 1.0),
    ("SET, 50 connections", ["-c", "50", "-t", "set"], 1, "everysec", 0.95),
    ("INCR, 50 connections", ["-c", "50", "-t", "incr"], 1, "everysec", None),
    ("HSET, 50 connections", ["-c", "50", "-t", "hset"], 1, "everysec", None),
    ("LPUSH, 50 connections", ["-c", "50", "-t", "lpush"], 1, "everysec", None),
    ("SADD, 50 connections", ["-c", "50", "-t", "sadd"], 1, "everysec", None),
    ("ZADD, 50 connections", ["-c", "50", "-t", "zadd"], 1, "everysec", None),
    ("GET, pipelines of 32", ["-c", "50", "-P", "32", "-t", "get"], 1, "everysec", 1.0),
    ("SET, pipelines of 32", ["-c", "50", "-P", "32", "-t", "set"], 1, "everysec", 0.8),
    ("MGET of 100 keys", ["-c", "50", "MGET"] + ["key:__rand_int__"] * 100, 100, "everysec", 1.5),
    ("MSET of 100 keys", ["-c", "50", "MSET"] + ["key:__rand_int__", "x" * 16] * 100, 100,
     "everysec", 1.0),
    ("SET, always, 64 connections", ["-c", "64", "-t", "set"], 1, "always", 3.0),
]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Running:
    """A server of either kind, by its port and its process."""

    def __init__(self, command, port, directory):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=directory)
        self.port = port
        while port is None or not self.answers():
            if port is None:
                line = self.process.stdout.readline()
                found = re.match(r"Redis +redis://[\d.]+:(\d+)", line)
                self.port = port = int(found[1]) if found else None
                assert line, "the server did not start"
            time.sleep(0.02)

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)


def redis(directory, durability):
    port = free_port()
    return Running(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", directory,
                    "--appendonly", "yes", "--appendfsync", durability, "--save", "",
                    "--daemonize", "no"], port, directory)


def tonnage(directory, durability):
    return Running([os.environ["TONNAGE"], "serve", "--store", os.path.join(directory, "store"),
                    "--create", "--http", "off", "--flight", "off", "--redis", "127.0.0.1:0",
                    "--redis-durability", durability], None, directory)


def measured(server, arguments, requests, keys):
    """Keys a second, and microseconds of the server's processor time for each."""
    command = ["redis-benchmark", "-p", str(server.port), "-n", str(requests), "-r", str(KEYS),
               "-d", "100", "--csv"]
    before = server.processor_seconds()
    told = subprocess.run(command + arguments, check=True, capture_output=True, text=True).stdout
    spent = server.processor_seconds() - before
    rows = [row for row in csv.reader(io.StringIO(told)) if row and row[0] != "test"]
    assert len(rows) == 1, told
    return float(rows[0][1]) * keys, spent * 1e6 / (requests * keys)


def rounds_of(cases, options):
    """The measurements by case and server, of servers that hold all keys."""
    found = {case[0]: {"redis": [], "tonnage": []} for case in cases}
    with tempfile.TemporaryDirectory() as directory:
        for durability in dict.fromkeys(case[3] for case in cases):
            servers = {}
            for name, start in (("redis", redis), ("tonnage", tonnage)):
                folder = os.path.join(directory, name + durability)
                os.mkdir(folder)
                servers[name] = start(folder, durability)
                fill = ["-c", "50", "-P", "32", "-t", "set"] if durability != "always" else None
                if fill:
                    measured(servers[name], fill, 2 * KEYS, 1)
            try:
                for _ in range(options.rounds):
                    for name, arguments, keys, of, _ in cases:
                        if of != durability:
                            continue
                        requests = max(options.requests // keys, 1_000)
                        if of == "always":
                            requests //= 8
                        if "-P" in arguments:
                            requests *= 4
                        for kind, server in servers.items():
                            found[name][kind].append(measured(server, arguments, requests, keys))
            finally:
                for server in servers.values():
                    server.stop()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=400_000)
    parser.add_argument("--only", default="", help="a part of the names of cases")
    options = parser.parse_args()
    for program in ("redis-server", "redis-benchmark"):
        if shutil.which(program) is None:
            print(f"redis_speed: not run: {program} is not installed")
            return
    cases = [case for case in CASES if options.only in case[0]]
    found = rounds_of(cases, options)
    print("| | redis-server, keys/s | Tonnage, keys/s | ratio | goal | redis-server, us a key | "
          "Tonnage, us a key |\n|---|---|---|---|---|---|---|")
    for name, _, _, _, goal in cases:
        (rate, time_of), (our_rate, our_time) = (
            [statistics.median(column) for column in zip(*found[name][kind])]
            for kind in ("redis", "tonnage"))
        print(f"| {name} | {rate:,.0f} | {our_rate:,.0f} | {our_rate / rate:.2f} | {goal or ''} | "
              f"{time_of:.1f} | {our_time:.1f} |", flush=True)
    # compare.py wants to be told of a case.
    print("redis_speed: pass")


if __name__ == "__main__":
    main()
    sys.exit(0)
