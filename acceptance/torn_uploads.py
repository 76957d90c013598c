"""Uploads that are cut at random places, and servers that drain or die under load.

A ledger keeps what clients were told. Afterwards the store must hold all of that: every
acknowledged row, and all rows of a stream that is reported as completed.

TONNAGE_TORN_ROUNDS multiplies the rounds (by default 1: 200 uploads, 100 drains, 40 kills), and
TONNAGE_TORN_SEED chooses the places."""

import contextlib
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pyarrow as pa
import pyarrow.flight as fl

from suite import Server

ROUNDS = float(os.environ.get("TONNAGE_TORN_ROUNDS", "1"))
SEED = int(os.environ.get("TONNAGE_TORN_SEED", str(time.time_ns() % 10**9)))
TABLE = "CREATE TABLE IF NOT EXISTS ships (id LONG, name STRING, PRIMARY KEY (id))"
# Rows of one upload have ids from UPLOAD times its number.
UPLOAD = 1_000_000
ROWS = 500
BATCHES = 12


def batch(first, rows=ROWS):
    ids = range(first, first + rows)
    return pa.record_batch({"id": pa.array(ids, pa.int64()), "name": [f"ship {i}" for i in ids]})


def put_command(**options):
    put = {"table": "ships", "flush_interval": "20ms", **options}
    return fl.FlightDescriptor.for_command(json.dumps({"bulk_put": put}))


def metadata(message):
    return json.dumps(message).encode()


class Told:
    """What one upload was told."""

    def __init__(self, number):
        self.first, self.sent, self.acked = number * UPLOAD, 0, 0
        self.job, self.completed, self.has_marker = None, False, False

    def hear(self, message):
        self.job = message.get("ready", {}).get("job", self.job)
        self.acked = max(self.acked, message.get("ack", 0))
        self.completed |= "completed" in message

    def listen(self, reader):
        try:
            while (said := reader.read()) is not None:
                self.hear(json.loads(said.to_pybytes()))
        except (fl.FlightError, pa.ArrowException, OSError):
            pass


def upload(address, told, pause=0.0, marker=True):
    """Sends all batches, each with a wish for an acknowledgement, then the end marker."""
    client = fl.connect(address)
    schema = batch(0, 1).schema
    try:
        writer, reader = client.do_put(put_command(), schema)
        listener = threading.Thread(target=told.listen, args=(reader,), daemon=True)
        listener.start()
        for _ in range(BATCHES):
            rows = batch(told.first + told.sent)
            writer.write_with_metadata(rows, metadata({"id": told.sent + ROWS}))
            told.sent += ROWS
            time.sleep(pause)
        if marker:
            told.has_marker = True
            writer.write_metadata(metadata({"end": {"rows": told.sent}}))
        writer.done_writing()
        listener.join(30)
        writer.close()
    except (fl.FlightError, pa.ArrowException, OSError):
        pass


class Proxy:
    """Hands one connection on, and cuts it after so many bytes from the client."""

    def __init__(self, target, allowance, how):
        host, port = target.split("//")[-1].rsplit(":", 1)
        self.target, self.allowance, self.how = (host, int(port)), allowance, how
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "grpc://127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        client, _ = self.socket.accept()
        self.socket.close()  # who connects again is refused
        server = socket.create_connection(self.target)
        back = threading.Thread(target=self.carry_back, args=(server, client), daemon=True)
        back.start()
        left = self.allowance
        while left > 0 and (data := client.recv(min(left, 65536))):
            server.sendall(data)
            left -= len(data)
        if self.how == "reset":
            for end in (server, client):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if self.how == "half_close":
            server.shutdown(socket.SHUT_WR)
            back.join(0.3)
        # A socket that another thread reads from stays open after close(), until that read ends.
        for end in (server, client):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RD)
        back.join(1)
        for end in (server, client):
            end.close()

    @staticmethod
    def carry_back(server, client):
        try:
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass


CHILD = """
import json, sys
sys.path.insert(0, {folder!r})
from torn_uploads import *
class Teller(Told):
    def hear(self, message):
        print(json.dumps(message), flush=True)
upload(sys.argv[1], Teller(int(sys.argv[2])), pause=0.01)
"""


def killed_upload(address, told, random):
    """The client is a process that is killed in the middle; what it was told it has printed."""
    code = CHILD.format(folder=os.path.dirname(os.path.abspath(__file__)))
    command = [sys.executable, "-c", code, address, str(told.first // UPLOAD)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    lines = [child.stdout.readline()]
    threading.Timer(random.uniform(0, 0.15), child.kill).start()
    lines += child.stdout.readlines()
    child.wait()
    for line in lines:
        if line.endswith("\n"):
            told.hear(json.loads(line))
    told.sent, told.has_marker = BATCHES * ROWS, True


def cut_upload(address, told, random):
    how = random.choice(["reset", "half_close", "cut"])
    size = BATCHES * ROWS * 24
    proxy = Proxy(address, random.randrange(200, size * 3 // 2), how)
    upload(proxy.address, told)


def unmarked_upload(address, told, _):
    upload(address, told, marker=False)


def whole_upload(address, told, _):
    upload(address, told)
    assert told.completed and told.acked == BATCHES * ROWS, vars(told)


def ended_job(server, number):
    deadline = time.time() + 30
    while time.time() < deadline:
        jobs = [json.loads(job) for job in server.act("tonnage.Jobs")]
        job = next((job for job in jobs if job["job"] == number), None)
        if job is None or job["state"] != "running":
            return job
        time.sleep(0.02)
    raise AssertionError(f"job {number} still runs")


def query(server, text):
    request = urllib.request.Request(
        server.http + "/v1/sql", json.dumps({"sql": text}).encode(),
        {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())["rows"]


def stored_of(server, told):
    ranges = f"id >= {told.first} AND id < {told.first}"
    [[acked, all_rows]] = query(
        server,
        f"SELECT (SELECT count(*) FROM ships WHERE {ranges} + {told.acked}),"
        f" (SELECT count(*) FROM ships WHERE {ranges} + {UPLOAD})")
    return acked, all_rows


def uploads_that_are_cut(directory, rng):
    """Of no upload that was cut is it told that it completed, unless all of it is stored."""
    server = Server(TABLE, os.path.join(directory, "store"))
    kinds = [killed_upload, cut_upload, cut_upload, cut_upload, unmarked_upload, whole_upload]
    states = {}
    try:
        for number in range(int(200 * ROUNDS)):
            kind, told = kinds[number % len(kinds)], Told(number)
            kind(server.flight, told, rng)
            job = ended_job(server, told.job) if told.job is not None else None
            acked, stored = stored_of(server, told)
            reported = job is not None and job["report"]["streams"][0]["completed"]
            where = f"upload {number} ({kind.__name__}): {vars(told)}, {job}, {stored} stored"
            assert acked == told.acked, f"acknowledged rows are missing: {acked}; {where}"
            assert not told.completed or reported, where
            assert not reported or (told.has_marker and stored == BATCHES * ROWS), where
            state = job["state"] if job else "no job"
            states[state] = states.get(state, 0) + 1
    finally:
        server.stop()
    assert states.get("abandoned", 0) > 20 * ROUNDS, states
    return states


class Pushers:
    """Clients that push rows by both listeners until the server is gone."""

    def __init__(self, server, first, durability):
        self.acked, self.stop = [], False
        targets = [(self.by_http, first), (self.by_http, first + UPLOAD // 4)]
        targets += [(self.by_flight, first + UPLOAD // 2 * n) for n in (1,)]
        self.threads = [
            threading.Thread(target=target, args=(server, start, durability), daemon=True)
            for target, start in targets]
        for thread in self.threads:
            thread.start()

    def by_http(self, server, first, durability):
        url = f"{server.http}/v1/tables/ships/rows?durability={durability}"
        while not self.stop:
            body = "id,name\n" + "".join(f"{i},x\n" for i in range(first, first + 20))
            request = urllib.request.Request(url, body.encode(), {"Content-Type": "text/csv"})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    report = json.loads(answer.read())
            except (OSError, ValueError):
                return
            if report.get("total", {}).get("inserted") == 20:
                self.acked.append((first, 20))
            first += 20

    def by_flight(self, server, first, durability):
        told, listener = Told(0), None
        try:
            writer, reader = fl.connect(server.flight).do_put(
                put_command(durability=durability), batch(0, 1).schema)
            listener = threading.Thread(target=told.listen, args=(reader,), daemon=True)
            listener.start()
            while not self.stop:
                told.sent += 50
                writer.write_with_metadata(
                    batch(first + told.sent - 50, 50), metadata({"id": told.sent}))
                time.sleep(0.002)
        except (fl.FlightError, pa.ArrowException, OSError):
            pass
        if listener:
            listener.join(30)
        self.acked.append((first, told.acked))

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a client still waits for an answer"


def rounds_under_load(directory, rng, count, signal_number, durability):
    store = os.path.join(directory, "store")
    acked = []
    for number in range(count):
        # Streams of the pushers never end by themselves.
        server = Server(TABLE, store, ["--drain-timeout", "500ms"])
        pushers = Pushers(server, number * UPLOAD, durability)
        time.sleep(rng.uniform(0.05, 0.4))
        server.process.send_signal(signal_number)
        code = server.process.wait(60)
        assert signal_number == signal.SIGKILL or code == 0, f"round {number}: exit code {code}"
        pushers.end()
        acked += pushers.acked
    server = Server(TABLE, store)
    try:
        for first, rows in acked:
            [[found]] = query(
                server, f"SELECT count(*) FROM ships WHERE id >= {first} AND id < {first + rows}")
            assert found == rows, f"of {rows} acknowledged rows from {first} on {found} are stored"
    finally:
        server.stop()
    total = sum(rows for _, rows in acked)
    assert total > count * 20, f"only {total} rows were acknowledged"
    return f"{count} rounds, {total} rows acknowledged"


def drains_under_load(directory, rng):
    """A server that drains answers everybody, ends with 0, and keeps what it acknowledged."""
    return rounds_under_load(directory, rng, int(100 * ROUNDS), signal.SIGTERM, "write")


def servers_that_are_killed(directory, rng):
    """A server that is killed keeps what it acknowledged."""
    return rounds_under_load(directory, rng, int(40 * ROUNDS), signal.SIGKILL, "write")


if __name__ == "__main__":
    print(f"# seed {SEED}", flush=True)
    for case in (uploads_that_are_cut, drains_under_load, servers_that_are_killed):
        with tempfile.TemporaryDirectory() as directory:
            try:
                told = case(directory, random.Random(SEED))
                print(f"# {told}")
                outcome = "pass"
            except Exception as error:  # a case that fails must not hide the others
                outcome = f"FAIL {type(error).__name__}: {error}".splitlines()[0]
        print(f"{case.__name__}: {outcome}", flush=True)
