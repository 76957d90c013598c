"""Clients that misbehave: the memory of the server stays flat, and it goes on serving others."""

import http.client
import json
import os
import socket
import tempfile
import threading
import time

import h2.config
import h2.connection
import psutil
import pyarrow as pa
import pyarrow.flight as fl

from suite import Server, run_cases

MIB = 1 << 20
TABLE = "CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))"


def memory(server):
    return psutil.Process(server.process.pid).memory_info().rss


def address(url):
    host, port = url.split("//")[-1].rsplit(":", 1)
    return host, int(port)


def fill(server, rows, width):
    """Rows of random text, which does not compress to nothing."""
    writer, _ = server.client.do_put(
        fl.FlightDescriptor.for_path("ships"),
        pa.schema([("id", pa.int64()), ("name", pa.string())]))
    for first in range(0, rows, 20_000):
        ids = range(first, min(rows, first + 20_000))
        names = [f"{i * 2654435761 % 2**32:08x}" * (width // 8) for i in ids]
        writer.write_batch(pa.record_batch({"id": pa.array(ids, pa.int64()), "name": names}))
    writer.close()


def count(server):
    connection = http.client.HTTPConnection(*address(server.http), timeout=30)
    body = json.dumps({"sql": "SELECT count(*) FROM ships"})
    connection.request("POST", "/v1/sql", body, {"Content-Type": "application/json"})
    [[rows]] = json.loads(connection.getresponse().read())["rows"]
    return rows


def reset_streams(target, headers, streams):
    """Opens streams and resets each at once. Says how many the server let through."""
    frames = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    frames.initiate_connection()
    with socket.create_connection(target) as connection:
        connection.settimeout(10)
        number = 1
        try:
            for done in range(streams):
                frames.send_headers(number, headers)
                frames.reset_stream(number, error_code=8)
                number += 2
                if done % 100 == 99:
                    connection.sendall(frames.data_to_send())
        except (OSError, h2.exceptions.ProtocolError):
            return number // 2
        return streams


def a_flood_of_reset_streams(server):
    """Streams that are reset at once: a connection is ended, or its streams cost nothing."""
    target = address(server.flight)
    headers = [
        (":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
        (":path", "/arrow.flight.protocol.FlightService/DoGet"),
        ("content-type", "application/grpc"), ("te", "trailers")]
    reset_streams(target, headers, 1_000)
    before, started = memory(server), time.time()
    let_through = sum(reset_streams(target, headers, 10_000) for _ in range(20))
    grown = (memory(server) - before) // MIB
    print(f"# {let_through} of 200,000 streams sent, {time.time() - started:.1f} s, {grown} MiB more")
    assert grown < 32, f"{grown} MiB more"
    assert count(server) == 0


def readers_that_rest(_):
    """60 readers take a batch of 200 MB each and then nothing: what waits for them is bounded."""
    with tempfile.TemporaryDirectory() as directory:
        server = Server(TABLE, os.path.join(directory, "store"), ["--calls-max", "100"])
        try:
            rest_readers(server)
        finally:
            server.stop()


def rest_readers(server):
    fill(server, 200_000, 1_000)
    before = memory(server)
    ticket = fl.Ticket(b'{"scan": {"table": "ships"}}')
    clients = [fl.connect(server.flight) for _ in range(60)]
    readers = [client.do_get(ticket) for client in clients]
    taken = []
    for reader in readers[:12]:
        taken.append(reader.read_chunk().data.num_rows)
    time.sleep(3)
    grown = (memory(server) - before) // MIB
    print(f"# 60 resting readers of 200 MB each: {grown} MiB more")
    assert grown < 800, f"{grown} MiB more"
    # The one that goes on gets everything.
    rows = taken[0] + sum(chunk.data.num_rows for chunk in readers[0])
    assert rows == 200_000, rows
    for reader in readers:
        reader.cancel()
    deadline = time.time() + 20
    while count(server) != 200_000:
        assert time.time() < deadline


def requests_that_never_end(server):
    """400 connections that send a header byte by byte: others are served meanwhile."""
    connections = []
    for _ in range(400):
        connection = socket.create_connection(address(server.http))
        connection.sendall(b"GET /v1/tables HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        connections.append(connection)
    before = memory(server)
    stop = threading.Event()

    def drip():
        while not stop.wait(0.2):
            for connection in connections:
                try:
                    connection.send(b"x")
                except OSError:
                    pass

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        started = time.time()
        served = 0
        while time.time() - started < 5:
            assert count(server) == 0
            served += 1
        grown = (memory(server) - before) // MIB
        print(f"# {served} requests of others in 5 s beside 400 slow ones, {grown} MiB more")
        assert served > 50, served
        assert grown < 64, f"{grown} MiB more"
        # The server waits 75 s for a whole request, as long as for the next one.
        deadline = time.time() + 90
        while connections and time.time() < deadline:
            connections = [connection for connection in connections if is_open(connection)]
            time.sleep(0.5)
        assert not connections, f"{len(connections)} slow connections are still open"
    finally:
        stop.set()
        dripping.join()


def is_open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(65536) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        connection.setblocking(True)


def headers_without_end(server):
    """Headers of 100 MB are refused long before."""
    before = memory(server)
    with socket.create_connection(address(server.http)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        try:
            for number in range(100_000):
                connection.sendall(b"X-%d: %s\r\n" % (number, b"x" * 1_000))
        except OSError:
            pass
        else:
            raise AssertionError("all of it was taken")
    assert (memory(server) - before) // MIB < 16
    assert count(server) == 0


def bodies_that_are_too_large(server):
    """JSON of 200 MB in one body is refused, and costs no memory."""
    before, most = memory(server), 0
    connection = http.client.HTTPConnection(*address(server.http), timeout=30)
    connection.putrequest("POST", "/v1/sql")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    status = None
    try:
        for _ in range(200):
            connection.send(b"100000\r\n" + b" " * MIB + b"\r\n")
            most = max(most, memory(server) - before)
        connection.send(b"0\r\n\r\n")
    except OSError:
        pass
    try:
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException):
        pass
    assert status in (413, None), status
    assert most // MIB < 64, f"{most // MIB} MiB more"
    assert count(server) == 0


CASES = [
    a_flood_of_reset_streams, readers_that_rest, requests_that_never_end, headers_without_end,
    bodies_that_are_too_large,
]

if __name__ == "__main__":
    run_cases(CASES, TABLE)
