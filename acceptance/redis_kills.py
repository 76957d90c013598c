"""Servers that are killed under load by Redis clients: nothing acknowledged is lost, and no transaction
is stored by half.

Usage: redis_kills.py [--kills N]. Each client counts up a key of its own, and in a transaction a pair
of keys, a field of a hash, the score of a member and the last element of a list; each of these three
has a member long enough to be stored one by one. Behind each kill the server is started again over its store, and asked.
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
# From 16 KiB on members are stored one by one.
FILLER = b"x" * 20_000


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
                connection.sendall(
                    b"HSET h%d filler %s\r\nZADD z%d 0 %s\r\nLINDEX l%d 0\r\n"
                    % (name, FILLER, name, FILLER, name))
                # What is added once, and what the list begins with.
                begun = [replies.readline() for _ in range(3)]
                if begun[-1] == b"$-1\r\n":
                    connection.sendall(b"RPUSH l%d %s\r\n" % (name, FILLER))
                replies.readline()
                while True:
                    self.asked += 1
                    value = self.asked
                    connection.sendall(
                        b"SET s%d %d\r\nMULTI\r\nSET a%d %d\r\nHSET h%d v %d\r\nZADD z%d %d m\r\n"
                        b"RPUSH l%d %d\r\nSET b%d %d\r\nEXEC\r\n" % ((name, value) * 6))
                    lines = [replies.readline() for _ in range(13)]
                    if lines[-1] != b"+OK\r\n":
                        return
                    assert lines[:9] == [b"+OK\r\n"] * 2 + [b"+QUEUED\r\n"] * 5 + [
                        b"*5\r\n", b"+OK\r\n"], lines
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
    """The numbers that a client counted up: by itself, and in transactions."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"GET s%d\r\nGET a%d\r\nGET b%d\r\nHGET h%d v\r\nZSCORE z%d m\r\n"
                           b"LINDEX l%d -1\r\nQUIT\r\n" % ((number,) * 6))
        lines = connection.makefile("rb").read().split(b"\r\n")
    found, at = [], 0
    while len(found) < 6:
        is_none = lines[at] == b"$-1"
        # A list may have nothing but what it began with.
        found.append(0 if is_none or lines[at + 1] == FILLER else int(lines[at + 1]))
        at += 1 if is_none else 2
    return found


def run(durability, kills, chance):
    """How many kills there were, and what was acknowledged in all."""
    known = [(0, 0)] * CLIENTS
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(kills):
            process, port = serve(directory, durability)
            for number, (acknowledged, asked) in enumerate(known):
                single, first, *others = values(port, number)
                assert others == [first] * 4, f"half of a transaction: {first} and {others}"
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
