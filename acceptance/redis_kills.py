"""Servers that are killed under load by Redis clients: nothing acknowledged is lost, and no transaction
is stored by half.

Usage: redis_kills.py [--kills N]. Each client counts up a key of its own, and a pair of keys in a
transaction. Behind each kill the server is started again over its store, and asked.
"""

import argparse
import os
import random
import re
import socket
import subprocess
import tempfile
import threading
import time

CLIENTS = 8


class Client(threading.Thread):
    """Counts up, and notes what was acknowledged."""

    def __init__(self, port, number, start):
        super().__init__()
        self.port, self.number = port, number
        self.acknowledged, self.asked = start

    def run(self):
        name = self.number
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
                replies = connection.makefile("rb")
                while True:
                    self.asked += 1
                    value = self.asked
                    connection.sendall(
                        b"SET s%d %d\r\nMULTI\r\nSET a%d %d\r\nSET b%d %d\r\nEXEC\r\n"
                        % (name, value, name, value, name, value))
                    lines = [replies.readline() for _ in range(7)]
                    if lines[-1] != b"+OK\r\n":
                        return
                    assert lines == [b"+OK\r\n", b"+OK\r\n", b"+QUEUED\r\n", b"+QUEUED\r\n",
                                     b"*2\r\n", b"+OK\r\n", b"+OK\r\n"], lines
                    self.acknowledged = value
        except OSError:
            return


def serve(directory, durability):
    command = [os.environ["TONNAGE"], "serve", "--store", os.path.join(directory, "store"),
               "--create", "--http", "off", "--flight", "off", "--redis", "127.0.0.1:0",
               "--redis-durability", durability]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        found = re.match(r"Redis +redis://[\d.]+:(\d+)", line)
        if found:
            return process, int(found[1])
    raise AssertionError("the server did not start")


def values(port, number):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"MGET s%d a%d b%d\r\nQUIT\r\n" % (number, number, number))
        lines = connection.makefile("rb").read().split(b"\r\n")
    found, at = [], 1
    while len(found) < 3:
        found.append(0 if lines[at] == b"$-1" else int(lines[at + 1]))
        at += 1 if lines[at] == b"$-1" else 2
    return found


def run(durability, kills, chance):
    """How many kills there were, and what was acknowledged in all."""
    known = [(0, 0)] * CLIENTS
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(kills):
            process, port = serve(directory, durability)
            for number, (acknowledged, asked) in enumerate(known):
                single, first, second = values(port, number)
                assert first == second, f"half of a transaction: {first} and {second}"
                assert acknowledged <= single <= asked, (acknowledged, single, asked)
                assert acknowledged <= first <= asked, (acknowledged, first, asked)
            clients = [Client(port, number, (start[1], start[1])) for number, start in enumerate(known)]
            for client in clients:
                client.start()
            time.sleep(chance.uniform(0.05, 0.6))
            process.kill()
            process.wait()
            for client in clients:
                client.join()
            known = [(max(start[0], client.acknowledged if client.acknowledged > start[1] else 0),
                      client.asked) for start, client in zip(known, clients)]
    return sum(acknowledged for acknowledged, _ in known)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--kills", type=int, default=20)
    arguments.add_argument("--seed", type=int, default=1)
    arguments = arguments.parse_args()
    for durability in ("always", "everysec"):
        try:
            total = run(durability, arguments.kills, random.Random(arguments.seed))
            print(f"# {durability}: {arguments.kills} kills, {total} rounds acknowledged")
            outcome = "pass" if total else "FAIL nothing was acknowledged"
        except AssertionError as error:
            outcome = f"FAIL {error}"
        print(f"nothing_acknowledged_with_{durability}_is_lost: {outcome}", flush=True)


if __name__ == "__main__":
    main()
