"""Clients that wait for elements and for messages, of a Redis server and of Tonnage: all get the same.

Usage: redis_waits.py [--seed N] [--steps N]. `redis-server` is looked for as redis_differential.py
does. A step is a command or a short pipeline of one of eleven connections. After it both servers
have the same clients waiting, and each connection the same bytes.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import tempfile
import time

from redis_differential import Connection, encode, free_port, start

LISTS = [b"l%d" % number for number in range(3)]
SORTED = [b"z%d" % number for number in range(2)]
CHANNELS = [b"news", b"new", b"n", b"other"]
PATTERNS = [b"n*", b"ne?s", b"*", b"[no]*"]
WAITERS, WRITERS, READERS = 5, 2, 3


class Server:
    """The connections to one of the two, and what came on each."""

    def __init__(self, port):
        self.control = Connection(port)
        self.all = [Connection(port) for _ in range(WAITERS + WRITERS + READERS)]
        self.numbers = [self.number(connection) for connection in self.all]

    @staticmethod
    def number(connection):
        connection.send(encode([b"CLIENT", b"ID"]))
        return int(connection.reply()[1:])

    def ask(self, *words):
        self.control.send(encode(words))
        return self.control.reply()

    def waiting(self):
        info = self.ask(b"INFO", b"clients")
        return int(info.split(b"blocked_clients:")[1].split(b"\r\n")[0])

    def arrived(self):
        """What has come on each connection; asked after a second turn of the server's loop."""
        self.ask(b"PING"), self.ask(b"PING")
        return [arrived(connection.socket) for connection in self.all]


def arrived(source):
    source.setblocking(False)
    data = b""
    try:
        while more := source.recv(1 << 16):
            data += more
    except BlockingIOError:
        pass
    finally:
        source.settimeout(60)
    return data


class Steps:
    """Draws what connections do."""

    def __init__(self, chance):
        self.chance = chance

    def some(self, keys):
        return self.chance.sample(keys, self.chance.randint(1, len(keys)))

    def wait(self):
        chance, end = self.chance, lambda: self.chance.choice([b"LEFT", b"RIGHT"])
        keys = LISTS if chance.random() < 0.9 else LISTS + SORTED
        some = self.some(keys)
        one = chance.choice([
            lambda: [chance.choice([b"BLPOP", b"BRPOP"]), *some, b"0"],
            lambda: [b"BLMOVE", chance.choice(keys), chance.choice(keys), end(), end(), b"0"],
            lambda: [b"BRPOPLPUSH", chance.choice(keys), chance.choice(keys), b"0"],
            lambda: [b"BLMPOP", b"0", b"%d" % len(some), *some, end(), b"COUNT",
                     chance.choice([b"1", b"2", b"5"])],
            lambda: [chance.choice([b"BZPOPMIN", b"BZPOPMAX"]), *self.some(SORTED), b"0"],
            lambda: [b"BZMPOP", b"0", b"1", chance.choice(SORTED),
                     chance.choice([b"MIN", b"MAX"]), b"COUNT", b"2"],
        ])()
        # What comes after it runs beside the rest of the pipeline that woke it, so it reads nothing.
        return [one, *chance.choice([[], [[b"PING"]], [[b"PING"], [b"ECHO", b"x"]]])]

    def write(self):
        chance = self.chance
        element = lambda: b"%d" % chance.randint(0, 99)
        key, of_scores = chance.choice(LISTS), chance.choice(SORTED)
        one = lambda: chance.choice([
            lambda: [chance.choice([b"LPUSH", b"RPUSH"]), key,
                     *[element() for _ in range(chance.randint(1, 4))]],
            lambda: [chance.choice([b"LPUSH", b"RPUSH"]), key, element()],
            lambda: [b"ZADD", of_scores, element(), element(), element(), element()],
            lambda: [b"ZADD", of_scores, element(), element()],
            lambda: [chance.choice([b"LPOP", b"RPOP", b"LLEN", b"DEL"]), chance.choice(LISTS)],
            lambda: [chance.choice([b"ZPOPMIN", b"ZCARD", b"DEL"]), of_scores],
            lambda: [b"LMOVE", key, chance.choice(LISTS), b"LEFT", b"RIGHT"],
            lambda: [b"RPOPLPUSH", key, chance.choice(LISTS)],
            lambda: [chance.choice([b"RENAME", b"COPY"]), key, chance.choice(LISTS)],
            lambda: [b"SET", key, element()],
        ])()
        many = [one() for _ in range(chance.choice([1, 1, 1, 2, 4]))]
        return [[b"MULTI"], *many, [b"EXEC"]] if chance.random() < 0.2 else many

    def read(self):
        chance = self.chance
        return [chance.choice([
            lambda: [chance.choice([b"SUBSCRIBE", b"UNSUBSCRIBE"]), *self.some(CHANNELS)],
            lambda: [chance.choice([b"PSUBSCRIBE", b"PUNSUBSCRIBE"]), *self.some(PATTERNS)],
            lambda: [chance.choice([b"SSUBSCRIBE", b"SUNSUBSCRIBE"]), *self.some(CHANNELS)],
            lambda: [chance.choice([b"UNSUBSCRIBE", b"PUNSUBSCRIBE", b"SUNSUBSCRIBE", b"RESET"])],
            lambda: [b"HELLO", b"3"],
            lambda: [chance.choice([b"PING", b"GET", b"ECHO"]), b"x"],
        ])()]

    def publish(self):
        chance = self.chance
        one = chance.choice([
            [b"PUBLISH", chance.choice(CHANNELS), b"m"], [b"SPUBLISH", chance.choice(CHANNELS), b"m"],
            [b"PUBSUB", b"NUMSUB", *CHANNELS], [b"PUBSUB", b"NUMPAT"],
            [b"PUBSUB", b"SHARDNUMSUB", *CHANNELS]])
        return [one, [b"PUBLISH", CHANNELS[0], b"again"]]


def comparable(data):
    """Patterns and names have no order, and HELLO has the version."""
    lines = data.split(b"\r\n")
    if b"version" in lines:
        at = lines.index(b"version")
        del lines[at + 1:at + 3]
        at = lines.index(b"id")
        del lines[at + 1]
    return sorted(lines)


def take_like(ours, theirs):
    """Takes from Tonnage what came from Redis, until the same clients wait."""
    expected = theirs.arrived()
    got = [take_up_to(connection, data) for connection, data in zip(ours.all, expected)]
    end = time.monotonic() + 20
    while ours.waiting() != theirs.waiting():
        assert time.monotonic() < end, f"{ours.waiting()} wait instead of {theirs.waiting()}"
    return expected, got


def take_up_to(connection, expected):
    """As much as is expected; what is too short is shown by the comparison."""
    got, end = arrived(connection.socket), time.monotonic() + 10
    # HELLO has a version of its own length.
    while time.monotonic() < end and (
            b"version" not in got if b"version" in expected else len(got) < len(expected)):
        got += arrived(connection.socket)
    return got


def compare(seed, count, ours, theirs):
    chance = random.Random(seed)
    steps, both = Steps(chance), (Server(ours), Server(theirs))
    waiting = set()
    for number in range(count):
        kind = chance.random()
        free = [at for at in range(WAITERS) if at not in waiting]
        if kind < 0.35 and free:
            at, pipeline = chance.choice(free), steps.wait()
        elif kind < 0.65:
            at, pipeline = WAITERS + chance.randrange(WRITERS), steps.write()
        elif kind < 0.8:
            at, pipeline = WAITERS + WRITERS + chance.randrange(READERS), steps.read()
        elif kind < 0.95:
            at, pipeline = WAITERS + chance.randrange(WRITERS), steps.publish()
        else:
            at, pipeline = None, [b"CLIENT", b"UNBLOCK", chance.randrange(WAITERS),
                                  chance.choice([b"TIMEOUT", b"ERROR"])]
        replies = []
        for server in both:
            if at is None:
                words = [b"%d" % server.numbers[word] if isinstance(word, int) else word
                         for word in pipeline]
                replies.append(server.ask(*words))
            else:
                server.all[at].send(b"".join(encode(command) for command in pipeline))
        expected, got = take_like(*both)
        if at is not None and at < WAITERS:
            waiting.add(at)
        # Who has an answer waits no more.
        waiting -= {one for one, data in enumerate(expected[:WAITERS]) if data}
        assert len(set(replies)) <= 1, (number, pipeline, replies)
        for one, (ours_got, theirs_got) in enumerate(zip(got, expected)):
            same = ours_got == theirs_got if one < WAITERS else (
                comparable(ours_got) == comparable(theirs_got))
            assert same, f"step {number} {pipeline}: {one} got {ours_got} instead of {theirs_got}"
    left = [arrived(connection.socket) for connection in both[0].all]
    assert not any(left), left


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--steps", type=int, default=3_000)
    arguments = arguments.parse_args()
    redis = os.environ.get("REDIS_SERVER") or shutil.which("redis-server")
    if not redis:
        print("# left out: redis-server is not installed")
        return
    with tempfile.TemporaryDirectory() as directory:
        port = free_port()
        theirs, _ = start([redis, "--port", str(port), "--save", "", "--dir", directory,
                           "--bind", "127.0.0.1"], "Ready to accept")
        ours, found = start([os.environ["TONNAGE"], "serve", "--store", "memory:", "--create",
                             "--http", "off", "--flight", "off", "--redis", "127.0.0.1:0"],
                            r"Redis +redis://127\.0\.0\.1:(\d+)")
        try:
            compare(arguments.seed, arguments.steps, int(found[1]), port)
            outcome = "pass"
        except (AssertionError, EOFError, socket.timeout) as error:
            outcome = f"FAIL {error}"
        finally:
            for process in (ours, theirs):
                process.send_signal(signal.SIGTERM)
                process.wait(60)
    print(f"# {arguments.steps} steps with seed {arguments.seed}")
    print(f"who_waits_gets_what_redis_gives: {outcome}", flush=True)


if __name__ == "__main__":
    main()
