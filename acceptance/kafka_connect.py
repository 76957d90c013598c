"""The connectors of `tonnage-kafka-connect` in a real cluster: topics of ships' positions, in JSON and
in Avro, through a worker of Kafka Connect into tables, and rows of tables into topics.

Worker and server are killed while records come: `--worker-kills 100 --server-kills 20` does so longer.
Needs a JDK 17 and Maven, whose repository has the broker and the worker.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request

from kafka_cluster import Broker, Worker, free_port, libraries, plugins, run, wait_until
from suite import Server

SHIPS = 1_000
COLUMNS = ("(ship LONG, at TIMESTAMP(3), n LONG, lat DOUBLE, lon DOUBLE, knots DOUBLE, name STRING, "
           "PRIMARY KEY (SHARD(ship), at))")
AVRO = {"value.converter": "acceptance.PlainAvro", "value.converter.schema": json.dumps({
    "type": "record", "name": "Position", "fields": [
        {"name": "ship", "type": "long"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "n", "type": "long"}, {"name": "lat", "type": "double"},
        {"name": "lon", "type": "double"}, {"name": "knots", "type": ["null", "double"]},
        {"name": "name", "type": "string"}]})}


class Pipe:
    """A broker, a worker and a server that cases share. Each case has topics and tables of its own."""

    def __init__(self, directory):
        self.directory = directory
        self.store = os.path.join(directory, "store")
        self.http = f"127.0.0.1:{free_port()}"
        classpath = libraries(directory)
        path, classes = plugins(directory, classpath)
        self.feed_path = os.pathsep.join([classes, classpath])
        self.server = self.worker = self.broker = None
        self.start_server()
        self.broker = Broker(directory, classpath)
        self.worker = Worker(directory, classpath, path, self.broker)

    def start_server(self):
        self.server = Server(store=self.store, http=self.http)

    def stop(self):
        for part in (self.worker, self.broker, self.server):
            if part:
                part.stop()

    def feed(self, *arguments, text=None):
        return run("java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp",
                   self.feed_path, "Feed", self.broker.address, *map(str, arguments), input=text)

    def feeding(self, *arguments):
        """The same in the background."""
        return subprocess.Popen(
            ["java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp",
             self.feed_path, "Feed", self.broker.address, *map(str, arguments)])

    def metrics(self, connector):
        """What tasks of a connector tell over JMX, by their names: the sum of all tasks."""
        told = run("java", "-cp", self.feed_path, "Feed", f"127.0.0.1:{self.worker.jmx}", "metrics",
                   connector)
        sums = {}
        for line in told.splitlines():
            name, attribute, value = line.split("\t")
            if "type=plugins" in name:
                sums[attribute] = sums.get(attribute, 0) + float(value)
        return sums

    def sql(self, text):
        """The rows of a query; none while the server is away."""
        request = urllib.request.Request(
            f"http://{self.http}/v1/sql", method="POST", data=json.dumps({"sql": text}).encode(),
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read()).get("rows")

    def sink(self, topics, **config):
        return {"connector.class": "dev.tonnage.kafka.TonnageSinkConnector", "topics": topics,
                "connection.url": f"http://{self.http}", "tasks.max": 1, "retry.backoff.ms": 500,
                "consumer.override.max.poll.records": 20_000,
                "consumer.override.fetch.max.bytes": 50 << 20,
                "consumer.override.max.partition.fetch.bytes": 8 << 20, **config}

    def dead_letters(self, topic):
        """The refused records: key, value, and the reason."""
        letters = []
        for line in self.feed("read", topic, 20_000).splitlines():
            key, value, *headers = line.split("\t")
            headers = dict(header.split("=", 1) for header in headers)
            letters.append((key, value, headers["__connect.errors.exception.message"],
                            headers["__connect.errors.topic"], headers["__connect.errors.offset"]))
        return letters


def count(pipe, table):
    return pipe.sql(f"SELECT count(*) FROM {table}")[0][0]


def check_positions(pipe, table, records):
    """Each record once, with its own values: the key of a row names one number, and they are all
    there."""
    told = pipe.sql(f"SELECT count(*), count(DISTINCT n), sum(n), min(n), max(n), sum(ship), "
                    f"sum(CASE WHEN knots IS NULL THEN 1 ELSE 0 END), "
                    f"sum(CASE WHEN n % {SHIPS} = ship AND name = concat('ship ', ship) "
                    f"THEN 1 ELSE 0 END) FROM {table}")[0]
    whole = range(records)
    expected = [records, records, sum(whole), 0, records - 1, sum(n % SHIPS for n in whole),
                len(range(0, records, 10)), records]
    assert [int(value) for value in told] == expected, (told, expected)


def fills(pipe, table, records, seconds):
    """Waits until a table has so many rows."""
    def is_full():
        """all rows are there"""
        found = count(pipe, table)
        assert found >= records, f"{found} of {records} rows"
        return True
    wait_until(is_full, seconds)


def goes_through(pipe, kind, records):
    topic = f"through_{kind}"
    pipe.sql(f"CREATE TABLE {topic} {COLUMNS}")
    pipe.feed("topics", f"{topic}:4")
    pipe.feed("positions", topic, kind, 0, records, SHIPS)
    started = time.monotonic()
    pipe.worker.connect(topic, pipe.sink(topic, **(AVRO if kind == "avro" else {})))
    fills(pipe, topic, records, 600)
    seconds = time.monotonic() - started
    print(f"# {kind}: {records} records in {seconds:.1f} s with the start of the connector: "
          f"{records / seconds:.0f} records/s")
    check_positions(pipe, topic, records)
    told = pipe.metrics(topic)
    assert told["rows-inserted-total"] == records, told
    assert told["records-refused-total"] == 0 and told["bulk-puts-total"] > 0, told
    pipe.worker.delete(topic)


def positions_in_json_become_rows(pipe, options):
    goes_through(pipe, "json", options.records)


def positions_in_avro_become_rows(pipe, options):
    goes_through(pipe, "avro", options.records)


def kills_lose_and_double_nothing(pipe, options):
    records = options.records
    pipe.feed("topics", "killed_json:4", "killed_avro:4")
    for topic in ("killed_json", "killed_avro"):
        pipe.sql(f"CREATE TABLE {topic} {COLUMNS}")
    # Small batches, so that a kill finds some that are stored and some that are not.
    small = {"batch.rows.max": 20_000, "consumer.override.max.poll.records": 5_000, "tasks.max": 2}
    pipe.worker.connect("killed_json", pipe.sink("killed_json", **small))
    pipe.worker.connect("killed_avro", pipe.sink("killed_avro", **AVRO, **small))
    kills = ["worker"] * options.worker_kills + ["server"] * options.server_kills
    rng = random.Random(options.seed)
    rng.shuffle(kills)
    interrupted = 0
    # Each kill finds records on their way: a share of them is sent before it.
    for number, kind in enumerate(kills):
        parts = [records * step // len(kills) for step in (number, number + 1)]
        feeds = [pipe.feeding("positions", topic, form, *parts, SHIPS) for topic, form in
                 (("killed_json", "json"), ("killed_avro", "avro"))]
        time.sleep(rng.uniform(0.5, 3))
        stored = pipe.sql("SELECT (SELECT count(*) FROM killed_json) + "
                          "(SELECT count(*) FROM killed_avro)")[0][0]
        interrupted += 0 < stored < 2 * records
        if kind == "worker":
            pipe.worker.kill()
            pipe.worker.start()
        else:
            pipe.server.kill()
            time.sleep(rng.uniform(0, 2))
            pipe.start_server()
        for feed in feeds:
            assert feed.wait(300) == 0
    for topic in ("killed_json", "killed_avro"):
        fills(pipe, topic, records, 900)
        # Records that are still on their way would show as rows that are too many.
        wait_until(lambda name=topic: pipe.worker.runs(name))
        check_positions(pipe, topic, records)
    print(f"# {options.worker_kills} kills of the worker, {options.server_kills} of the server, "
          f"{interrupted} of them between the first row and the last")
    for topic in ("killed_json", "killed_avro"):
        pipe.worker.delete(topic)


POISON = [
    ("1", '{"ship": 1, "at": "2026-01-02T03:04:05", "speed": 7}', "has no column `speed`"),
    ("2", '{"ship": "two", "at": 1, "n": 1}', "column ship"),
    ("3", '{"ship": 3, "at": "yesterday", "n": 1}', "column at"),
    ("4", '{"at": 1, "n": 1}', "ship"),
    ("5", '[1, 2]', "the value has no fields"),
    ("6", '{"ship": 6, "at": 1, "n": 1e300}', "column n"),
    ("7", '-', "the record has no value"),
    ("8", '{"ship": 8, "at"', "Converting byte[] to Kafka Connect data failed"),
]


def poison_goes_to_the_dead_letter_topic_with_its_reason(pipe, options):
    pipe.sql(f"CREATE TABLE poison {COLUMNS}")
    pipe.feed("topics", "poison:2", "poison_refused:1")
    pipe.worker.connect("poison", pipe.sink("poison", **{
        "errors.tolerance": "all", "errors.deadletterqueue.topic.name": "poison_refused",
        "errors.deadletterqueue.topic.replication.factor": 1,
        "errors.deadletterqueue.context.headers.enable": "true"}))
    good = 10_000
    pipe.feed("positions", "poison", "json", 0, good // 2, SHIPS)
    pipe.feed("lines", "poison", text="".join(f"{key}\t{value}\n" for key, value, _ in POISON))
    pipe.feed("positions", "poison", "json", good // 2, good, SHIPS)
    fills(pipe, "poison", good, 120)
    check_positions(pipe, "poison", good)

    def all_letters():
        """the dead letters are there"""
        letters = pipe.dead_letters("poison_refused")
        return letters if len({letter[:2] for letter in letters}) >= len(POISON) else None

    letters = wait_until(all_letters, 60)
    assert len(letters) == len(POISON), letters
    for key, value, reason in POISON:
        found = [letter for letter in letters if letter[0] == key]
        assert len(found) == 1 and found[0][1] == value, (key, letters)
        assert reason in found[0][2], (reason, found[0][2])
        assert found[0][3] == "poison", found
    assert pipe.metrics("poison")["records-refused-total"] == len(POISON) - 1
    pipe.worker.delete("poison")


def tombstones_delete_and_children_have_tables_of_their_own(pipe, options):
    pipe.sql("CREATE TABLE ports (code STRING, name STRING, doc JSON, PRIMARY KEY (code))")
    pipe.sql("CREATE TABLE ports.berths (berth INTEGER, depth DOUBLE, PRIMARY KEY (berth))")
    pipe.feed("topics", "harbours:1")
    pipe.worker.connect("harbours", pipe.sink("harbours", **{
        "table.name.map": "harbours:ports", "child.tables": "berths:ports.berths",
        "key.fields": "code", "delete.enabled": "true"}))
    pipe.feed("lines", "harbours", text="".join(f"{key}\t{value}\n" for key, value in [
        ("NLRTM", '{"name": "Rotterdam", "doc": {"a": [1]}, "berths": '
                  '[{"berth": 1, "depth": 12.5}, {"berth": 2, "depth": null}]}'),
        ("DEHAM", '{"name": "Hamburg", "berths": [{"berth": 1, "depth": 9}]}'),
        ("XXXXX", '{"name": "Nowhere"}'),
        ("XXXXX", "-"),
        ("FRBES", '{"name": "Brest"}')]))
    fills(pipe, "ports", 3, 60)
    wait_until(lambda: count(pipe, "ports") == 3, 60)
    assert pipe.sql("SELECT code, name FROM ports ORDER BY code") == [
        ["DEHAM", "Hamburg"], ["FRBES", "Brest"], ["NLRTM", "Rotterdam"]]
    assert pipe.sql("SELECT code, berth, depth FROM ports.berths ORDER BY code, berth") == [
        ["DEHAM", 1, 9.0], ["NLRTM", 1, 12.5], ["NLRTM", 2, None]]
    pipe.worker.delete("harbours")


def wrong_settings_are_refused_in_clear_words(pipe, options):
    for change, words in [
            ({"insert.mode": "upsert"}, "insert.mode"),
            ({"connection.url": "localhost:7410"}, "give http://HOST:PORT or https://HOST:PORT"),
            ({"connection.user": "ann"}, "connection.user is given: give connection.password, too"),
            ({"table.name.map": "ships"}, "write TOPIC:TABLE, with commas between"),
            ({"delete.enabled": "true", "table.name.field": "kind"},
             "a record without a value names no table"),
            ({"batch.rows.max": "0"}, "batch.rows.max")]:
        config = {**pipe.sink("none"), "name": "wrong", **change}
        told = pipe.worker.call("PUT", "/connector-plugins/TonnageSinkConnector/config/validate",
                                {key: str(value) for key, value in config.items()})
        errors = [error for value in told["configs"] for error in value["value"]["errors"]]
        assert told["error_count"] == 1 and words in errors[0], (change, errors)
    source = {"connector.class": "dev.tonnage.kafka.TonnageSourceConnector", "name": "wrong",
              "tables": "a,b", "topic.name.format": "all"}
    told = pipe.worker.call("PUT", "/connector-plugins/TonnageSourceConnector/config/validate",
                            source)
    errors = [error for value in told["configs"] for error in value["value"]["errors"]]
    assert len(errors) == 1 and "several tables would share a topic" in errors[0], errors


def new_rows_reach_topics_and_none_is_left_out(pipe, options):
    pipe.sql("CREATE TABLE fleet (id LONG, name STRING, at TIMESTAMP(3), PRIMARY KEY (id))")
    pipe.feed("topics", "fleet:1")
    config = {"connector.class": "dev.tonnage.kafka.TonnageSourceConnector", "tables": "fleet",
              "connection.url": f"http://{pipe.http}", "tasks.max": 1, "poll.interval.ms": 200,
              "retry.backoff.ms": 500,
              "value.converter": "org.apache.kafka.connect.json.JsonConverter",
              "value.converter.schemas.enable": "false",
              "key.converter": "org.apache.kafka.connect.json.JsonConverter",
              "key.converter.schemas.enable": "false"}
    put(pipe, range(0, 20_000), "a")
    pipe.worker.connect("fleet", config)
    wait_for_topic(pipe, {n: "a" for n in range(20_000)})
    # What is committed behind a whole reading makes a worker that is killed tell nothing twice.
    time.sleep(4)
    before = len(topic_rows(pipe))
    pipe.worker.kill()
    put(pipe, range(19_000, 21_000), "b")
    pipe.worker.start()
    newest = {n: "b" if n >= 19_000 else "a" for n in range(21_000)}
    wait_for_topic(pipe, newest)
    twice = len(topic_rows(pipe)) - before - 2_000
    for number in range(options.worker_kills + options.server_kills):
        part = range(30_000 + number * 1_000, 31_000 + number * 1_000)
        if number % 2:
            pipe.worker.kill()
            put(pipe, part, "c")
            pipe.worker.start()
        else:
            put(pipe, part, "c")
            pipe.server.kill()
            pipe.start_server()
        newest.update((n, "c") for n in part)
    wait_for_topic(pipe, newest)
    print(f"# {twice} rows came twice behind a kill of an idle worker, "
          f"{len(topic_rows(pipe)) - 23_000 - 1_000 * number} in all")
    assert twice == 0, twice
    assert pipe.metrics("fleet")["rows-read-total"] >= 0
    pipe.worker.delete("fleet")


def put(pipe, ids, name):
    rows = "\n".join(json.dumps({"id": n, "name": name, "at": "2026-01-02T03:04:05.678"})
                     for n in ids)
    request = urllib.request.Request(
        f"http://{pipe.http}/v1/tables/fleet/rows?on_existing=replace&durability=fsync",
        method="POST", data=rows.encode(), headers={"Content-Type": "application/x-ndjson"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert json.loads(answer.read())["counts"]["failed"] == 0


def topic_rows(pipe):
    lines = (line.split("\t") for line in pipe.feed("read", "fleet", 20_000).splitlines())
    return [(json.loads(parts[0]), json.loads(parts[1])) for parts in lines]


def wait_for_topic(pipe, newest):
    def is_told():
        """all rows are in the topic"""
        told = {}
        for key, value in topic_rows(pipe):
            assert key == {"id": value["id"]}, key
            told[value["id"]] = value["name"]
        missing = [n for n, name in newest.items() if told.get(n) != name]
        assert not missing, f"{len(missing)} rows are missing, such as {missing[:3]}"
        return True
    wait_until(is_told, 120, 1)


CASES = [positions_in_json_become_rows, positions_in_avro_become_rows,
         poison_goes_to_the_dead_letter_topic_with_its_reason,
         tombstones_delete_and_children_have_tables_of_their_own,
         wrong_settings_are_refused_in_clear_words, new_rows_reach_topics_and_none_is_left_out,
         kills_lose_and_double_nothing]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--worker-kills", type=int, default=5)
    parser.add_argument("--server-kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("cases", nargs="*", help="names of cases; all without any")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        pipe = Pipe(directory)
        try:
            for case in CASES:
                if options.cases and case.__name__ not in options.cases:
                    continue
                try:
                    case(pipe, options)
                    outcome = "pass"
                except Exception as error:  # a case that fails must not hide the others
                    outcome = f"FAIL {type(error).__name__}: {error}".splitlines()[0]
                    if os.environ.get("TONNAGE_ACCEPTANCE_TRACE"):
                        sys.excepthook(*sys.exc_info())
                print(f"{case.__name__}: {outcome}", flush=True)
        finally:
            pipe.stop()


if __name__ == "__main__":
    main()
    sys.exit(0)
