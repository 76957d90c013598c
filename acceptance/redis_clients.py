"""redis-py against the Redis listener, with its defaults and in both versions of the protocol."""

import concurrent.futures
import json
import os
import re
import resource
import signal
import socket
import subprocess
import time

import psutil
import redis
from suite import run_each


class RedisListener:
    """`tonnage serve` with a Redis listener on a free port."""

    def __init__(self, directory):
        command = [os.environ["TONNAGE"], "serve", "--store", os.path.join(directory, "store"),
                   "--create", "--http", "off", "--flight", "off", "--redis", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        lines = iter(self.process.stdout.readline, "ready\n")
        found = [re.match(r"Redis +redis://([\d.]+):(\d+)", line) for line in lines]
        self.host, self.port = found[0][1], int(found[0][2])

    def client(self, **options):
        return redis.Redis(self.host, self.port, **options)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.process.returncode


def it_connects_with_its_defaults(server):
    client = server.client()
    assert client.ping()
    assert client.set("a", b"\x00\xff", ex=100) and client.get("a") == b"\x00\xff"
    assert client.ttl("a") == 100 and client.info()["redis_version"] == "7.2.4"
    assert client.client_info()["lib-name"].startswith("redis-py")
    assert client.config_get("appendfsync") == {"appendfsync": "everysec"}


def both_versions_of_the_protocol_say_the_same(server):
    answers = []
    for protocol in (2, 3):
        client = server.client(protocol=protocol, decode_responses=True)
        client.flushall()
        client.mset({"a": "1", "b": "2"})
        answers.append((client.mget("a", "b", "c"), client.incr("a"), client.incrbyfloat("b", 0.5),
                        client.set("a", "x", nx=True), client.getex("a", persist=True),
                        client.exists("a", "b", "c"), client.type("a"), client.command_count(),
                        sorted(client.scan_iter("*")), client.command_getkeys("MSET", "a", "1")))
    assert answers[0] == answers[1], answers


def a_pipeline_of_ten_thousand_is_answered(server):
    pipeline = server.client().pipeline(transaction=False)
    for number in range(10_000):
        pipeline.set(f"k{number}", number)
        pipeline.incr(f"k{number}")
    answers = pipeline.execute()
    assert answers[1::2] == list(range(1, 10_001))


def hashes_are_the_same_in_both_versions(server):
    answers = []
    for protocol in (2, 3):
        client = server.client(protocol=protocol, decode_responses=True)
        client.flushall()
        answers.append((client.hset("h", mapping={"name": "ada", "n": "1"}), client.hgetall("h"),
                        client.hincrby("h", "n", 41), client.hincrbyfloat("h", "f", 0.5),
                        client.hmget("h", "n", "nosuch"), dict(client.hscan_iter("h", "n*")),
                        sorted(client.hrandfield("h", 3)), client.hdel("h", "name"),
                        client.type("h"), list(client.scan_iter("*", _type="hash"))))
    assert answers[0] == answers[1], answers
    assert answers[0][1] == {"name": "ada", "n": "1"} and answers[0][5] == {"name": "ada", "n": "42"}


def collections_are_the_same_in_both_versions_small_and_large(server):
    for filler in ("", "x" * 20_000):
        answers = []
        for protocol in (2, 3):
            client = server.client(protocol=protocol, decode_responses=True)
            client.flushall()
            # With a long member among them, each is stored by itself.
            filled = [filler] if filler else []
            client.sadd("s", "a", "b", "c", *filled)
            client.zadd("z", {"a": 1, "b": 2.5, "c": -1, **{name: 9 for name in filled}})
            client.rpush("l", "a", "b", "c", *filled)
            if filled:
                client.srem("s", filler), client.zrem("z", filler), client.rpop("l")
            answers.append((
                client.smembers("s"), set(client.sscan_iter("s")), client.smismember("s", ["a", "x"]),
                client.sinter("s", "s"), client.zrange("z", 0, -1), flat(client.zpopmin("z")),
                client.zrange("z", "-inf", "+inf", byscore=True), client.zrevrank("z", "a"),
                sorted(client.zscan_iter("z")), client.zcount("z", 1, 2), client.lrange("l", 0, -1),
                client.lmove("l", "m"), client.lpos("l", "c"), client.rpop("l", 2), client.llen("m")))
        assert answers[0] == answers[1], answers
        assert answers[0][0] == {"a", "b", "c"} and answers[0][10] == ["a", "b", "c"], answers


def flat(popped):
    """A member and its score: redis-py pairs them in the second version alone."""
    return list(popped[0]) if isinstance(popped[0], tuple) else popped


def ten_thousand_idle_connections_take_less_than_100_mb(server):
    process = psutil.Process(server.process.pid)
    before, connections = process.memory_info().rss, []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 12_000), hard))
    try:
        # 500 from each address.
        for number in range(9_900):
            source = (f"127.0.1.{1 + number // 495}", 0)
            connections.append(socket.create_connection((server.host, server.port), 60, source))
            connections[-1].sendall(b"PING\r\n")
        for connection in connections:
            assert connection.recv(100) == b"+PONG\r\n"
        taken = process.memory_info().rss - before
        print(f"# {len(connections)} idle connections: {taken / 1e6:.1f} MB")
        assert taken < 100e6, taken
        assert server.client().ping()
    finally:
        for connection in connections:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def transactions_and_watches_work(server):
    client, other = server.client(), server.client()
    client.set("n", 1)
    with client.pipeline() as pipeline:
        pipeline.watch("n")
        value = int(pipeline.get("n"))
        pipeline.multi()
        pipeline.set("n", value + 1)
        assert pipeline.execute() == [True]
        pipeline.watch("n")
        other.set("n", 9)
        pipeline.multi()
        pipeline.set("n", 0)
        try:
            pipeline.execute()
        except redis.WatchError:
            pass
        else:
            raise AssertionError("the transaction went through")
    assert client.get("n") == b"9"


def errors_have_the_types_that_programs_catch(server):
    client = server.client()
    client.set("a", "x")
    for call, kind in [(lambda: client.incr("a"), redis.ResponseError),
                       (lambda: client.blpop("a", 1), redis.ResponseError),
                       (lambda: client.hget("a", "f"), redis.ResponseError),
                       (lambda: server.client(username="ann", password="x").ping(),
                        redis.AuthenticationError)]:
        try:
            call()
        except kind:
            continue
        raise AssertionError(kind)


def messages_reach_subscribers(server):
    for protocol in (2, 3):
        client = server.client(protocol=protocol, decode_responses=True)
        reader = client.pubsub()
        reader.subscribe("news")
        reader.psubscribe("ne*")
        kinds = [reader.get_message(timeout=10)["type"] for _ in range(2)]
        assert kinds == ["subscribe", "psubscribe"], kinds
        assert client.pubsub_numsub("news") == [("news", 1)] and client.pubsub_numpat() == 1
        pipeline = client.pipeline()
        pipeline.set("a", 1)
        pipeline.publish("news", "hello")
        assert pipeline.execute() == [True, 2]
        got = [reader.get_message(timeout=10) for _ in range(2)]
        assert [(one["type"], one["channel"], one["data"]) for one in got] == [
            ("message", "news", "hello"), ("pmessage", "news", "hello")], got
        reader.unsubscribe()
        reader.punsubscribe()
        reader.close()


def a_thread_listens_while_others_publish(server):
    got = []
    reader = server.client(decode_responses=True).pubsub()
    reader.subscribe(jobs=lambda message: got.append(message["data"]))
    thread = reader.run_in_thread(sleep_time=0.1)
    client = server.client()
    until(lambda: client.pubsub_numsub("jobs")[0][1] == 1)
    for number in range(1_000):
        client.publish("jobs", number)
    until(lambda: len(got) == 1_000)
    assert got == [str(number) for number in range(1_000)]
    thread.stop()
    thread.join()


def blocking_commands_wait_and_end_in_time(server):
    for protocol in (2, 3):
        client = server.client(protocol=protocol, decode_responses=True)
        begun = time.monotonic()
        assert client.blpop(["a1", "b1"], timeout=0.2) is None
        assert client.bzpopmin("z1", timeout=0.2) is None
        assert client.blmove("a1", "b1", timeout=0.2) is None
        assert 0.6 <= time.monotonic() - begun < 10
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            waiting = [pool.submit(client.brpop, "jobs", 60), pool.submit(client.bzpopmax, "z", 60),
                       pool.submit(client.brpoplpush, "from", "to", 60),
                       pool.submit(client.blmpop, 60, 1, "many", direction="LEFT", count=2)]
            until(lambda: client.info("clients")["blocked_clients"] == 4)
            other = server.client()
            other.rpush("jobs", "x")
            other.zadd("z", {"m": 1.5})
            other.rpush("from", "y")
            other.rpush("many", 1, 2, 3)
            got = [one.result(60) for one in waiting]
        assert [flat_all(one) for one in got] == [
            ["jobs", "x"], ["z", "m", 1.5], "y", ["many", ["1", "2"]]], got
        client.flushall()


def a_wait_is_ended_by_another_client(server):
    client, other = server.client(single_connection_client=True), server.client()
    number = client.client_id()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.blpop, "nosuch", 60)
        until(lambda: other.client_unblock(number))
        assert waiting.result(60) is None


def tables_are_read_and_written(server):
    client = server.client(decode_responses=True)
    client.execute_command("TN.SQL", "CREATE TABLE ships (id INTEGER, name STRING, PRIMARY KEY (id))")
    rows = [json.dumps({"id": number, "name": f"ship {number}"}) for number in range(1_000)]
    assert client.execute_command("TN.MPUT", "ships", *rows)["inserted"] == 1_000
    assert client.execute_command("TN.MGET", "ships", 7, 5_000) == [{"id": 7, "name": "ship 7"}]
    counted = client.execute_command("TN.SQL", "SELECT count(*) AS n FROM ships WHERE id < ?", 10)
    assert counted == [{"n": 10}], counted


def flat_all(answer):
    return list(answer) if isinstance(answer, (list, tuple)) else answer


def until(is_so):
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, "it does not come to pass"
        time.sleep(0.01)


def a_scan_sees_all_keys(server):
    client = server.client()
    client.flushall()
    client.mset({f"k{number}": number for number in range(5_000)})
    assert len(set(client.scan_iter("k*", count=100))) == 5_000
    assert client.dbsize() == 5_000 and len(client.keys("k1???")) == 1_000


def main():
    cases = [it_connects_with_its_defaults, both_versions_of_the_protocol_say_the_same,
             hashes_are_the_same_in_both_versions,
             collections_are_the_same_in_both_versions_small_and_large,
             ten_thousand_idle_connections_take_less_than_100_mb, a_pipeline_of_ten_thousand_is_answered,
             transactions_and_watches_work, messages_reach_subscribers,
             a_thread_listens_while_others_publish, blocking_commands_wait_and_end_in_time,
             a_wait_is_ended_by_another_client, tables_are_read_and_written,
             errors_have_the_types_that_programs_catch, a_scan_sees_all_keys]
    run_each(cases, lambda _, directory: RedisListener(directory))


if __name__ == "__main__":
    main()
