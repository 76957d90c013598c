"""borneo, the Python SDK of Oracle NoSQL Database, against the listener that speaks its protocol."""

import logging
import os
import re
import signal
import subprocess
import time

from borneo import (
    Consistency, DeleteRequest, Durability, FieldRange, GetIndexesRequest, GetRequest,
    GetTableRequest, IllegalArgumentException, ListTablesRequest, MultiDeleteRequest,
    NoSQLHandle, NoSQLHandleConfig, PrepareRequest, PutOption,
    PutRequest, QueryRequest, State, TableExistsException, TableNotFoundException, TableRequest, TimeToLive,
    TimeUnit, WriteMultipleRequest)
from borneo.kv import StoreAccessTokenProvider
from suite import run_each, store_of

HOUR_MS, DAY_MS = 3_600_000, 86_400_000


class NosqlListener:
    """`tonnage serve` with such a listener on a free port."""

    def __init__(self, store):
        command = [os.environ["TONNAGE"], "serve", "--store", store, "--create",
                   "--http", "off", "--flight", "off", "--nosql", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        lines = iter(self.process.stdout.readline, "ready\n")
        endpoint = [re.match(r"NoSQL +(http://[\d.:]+)", line) for line in lines][0][1]
        self.endpoint = endpoint
        config = NoSQLHandleConfig(endpoint, StoreAccessTokenProvider())
        # Its own logger would leave a folder of logs here.
        self.handle = NoSQLHandle(config.set_logger(logging.getLogger("nosql")))

    def define(self, statement):
        return self.handle.do_table_request(TableRequest().set_statement(statement), 20_000, 50)

    def put(self, table, value, option=None, version=None, returns=False):
        request = PutRequest().set_table_name(table).set_value(value).set_return_row(returns)
        if option is not None:
            request.set_option(option)
        if version is not None:
            request.set_match_version(version)
        return self.handle.put(request)

    def get(self, table, key):
        request = GetRequest().set_table_name(table).set_key(key)
        return self.handle.get(request.set_consistency(Consistency.ABSOLUTE))

    def stop(self):
        self.handle.close()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.process.returncode


def raises(kind, call, *arguments):
    try:
        call(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} is not raised")


def users(server):
    server.define("create table users(id integer, name string, age integer, primary key(id))")


def tables_are_made_altered_listed_and_dropped(server):
    made = server.define("create table t(id integer, s string, primary key(id))")
    assert made.get_state() == State.ACTIVE and made.get_schema()
    server.define("create table t.kid(k long, primary key(k))")
    server.define("alter table t(add d double)")
    server.define("create index i on t(s, d)")
    told = server.handle.get_table(GetTableRequest().set_table_name("T"))
    assert "d DOUBLE" in told.get_ddl(), told.get_ddl()
    assert server.handle.list_tables(ListTablesRequest()).get_tables() == ["t.kid", "t"]
    indexes = server.handle.get_indexes(GetIndexesRequest().set_table_name("t")).get_indexes()
    assert [(one.get_index_name(), one.get_field_names()) for one in indexes] == [("i", ["s", "d"])]
    raises(TableExistsException, server.define, "create table t(id long, primary key(id))")
    server.define("drop table t.kid")
    assert server.define("drop table t").get_state() == State.DROPPED
    raises(TableNotFoundException, server.get, "t", {"id": 1})


def rows_go_by_their_conditions(server):
    users(server)
    first = server.put("users", {"id": 1, "name": "ann", "age": -5})
    assert first.get_version() and first.get_existing_value() is None
    found = server.get("users", {"id": 1})
    assert found.get_value() == {"id": 1, "name": "ann", "age": -5}
    assert found.get_version().get_bytes() == first.get_version().get_bytes()
    absent = server.put("users", {"id": 1, "name": "x"}, PutOption.IF_ABSENT, returns=True)
    assert absent.get_version() is None and absent.get_existing_value()["name"] == "ann"
    assert server.put("users", {"id": 2, "name": "b"}, PutOption.IF_ABSENT).get_version()
    assert server.put("users", {"id": 3}, PutOption.IF_PRESENT).get_version() is None
    second = server.put("users", {"id": 1, "name": "bob"}, version=first.get_version())
    assert second.get_version()
    refused = server.put("users", {"id": 1}, version=first.get_version(), returns=True)
    assert refused.get_version() is None and refused.get_existing_value()["name"] == "bob"
    delete = DeleteRequest().set_table_name("users").set_key({"id": 1})
    delete.set_match_version(first.get_version()).set_return_row(True)
    gone = server.handle.delete(delete)
    assert not gone.get_success() and gone.get_existing_value()["name"] == "bob"
    delete = DeleteRequest().set_table_name("users").set_key({"id": 1})
    assert server.handle.delete(delete).get_success()
    assert not server.handle.delete(delete).get_success()
    assert server.get("users", {"id": 1}).get_value() is None
    told = raises(IllegalArgumentException, server.put, "users", {"id": 1, "age": "ab"})
    assert told == "PUT: Illegal Argument: Invalid string for Integer: ab", told
    durable = PutRequest().set_table_name("users").set_value({"id": 9})
    durable.set_durability(Durability(
        Durability.SYNC_POLICY.SYNC, Durability.SYNC_POLICY.NO_SYNC,
        Durability.REPLICA_ACK_POLICY.NONE))
    assert server.handle.put(durable).get_version()


def all_types_go_in_and_out(server):
    server.define("create table t(id integer, l long, f float, d double, n number, s string, "
                  "b boolean, bin binary, fb binary(2), e enum(red, green), ar array(integer), "
                  "mp map(long), rc record(x integer, y string), js json, ts timestamp(3), "
                  "primary key(id))")
    for l in (0, -1, 120, 121, -120, 2**31, 2**63 - 1, -2**63):
        row = {"id": 1, "l": l, "f": 0.5, "d": 0.1, "s": "a😀", "b": True, "e": "green",
               "bin": bytearray(b"\x00\xff"), "fb": bytearray(b"ab"), "ar": [3, 1], "mp": {"z": 1},
               "rc": {"x": 1, "y": "q"}, "js": {"a": [1, 2.5, "x", True]}}
        server.put("t", row)
        told = server.get("t", {"id": 1}).get_value()
        assert {name: told[name] for name in row} == row, told
        assert told["n"] is None and told["ts"] is None
    server.put("t", {"id": 2, "n": "12345678901234567890.125", "ts": "2020-01-02T03:04:05.6789"})
    told = server.get("t", {"id": 2}).get_value()
    assert str(told["n"]) == "12345678901234567890.125", told
    assert told["ts"].isoformat() == "2020-01-02T03:04:05.679000", told


def rows_expire_at_whole_hours_and_days(server):
    users(server)
    for ttl, unit, unit_ms in ((5, TimeUnit.HOURS, HOUR_MS), (2, TimeUnit.DAYS, DAY_MS)):
        request = PutRequest().set_table_name("users").set_value({"id": 1})
        make = TimeToLive.of_hours if unit == TimeUnit.HOURS else TimeToLive.of_days
        server.handle.put(request.set_ttl(make(ttl)))
        expiry = server.get("users", {"id": 1}).get_expiration_time()
        left = expiry - time.time() * 1000
        assert expiry % unit_ms == 0 and ttl * unit_ms <= left + 1000 <= (ttl + 1) * unit_ms + 2000
        server.put("users", {"id": 1, "name": "kept"})
        assert server.get("users", {"id": 1}).get_expiration_time() == expiry


def identities_are_told(server):
    server.define("create table t(id long generated always as identity, v string, primary key(id))")
    numbers = [server.put("t", {"v": "x"}).get_generated_value() for _ in range(3)]
    assert numbers == [1, 2, 3], numbers
    raises(IllegalArgumentException, server.put, "t", {"id": 5, "v": "x"})


def groups_are_written_together(server):
    server.define("create table m(sid integer, id integer, s string, primary key(shard(sid), id))")
    request = WriteMultipleRequest()
    for number in range(3):
        put = PutRequest().set_table_name("m").set_value({"sid": 1, "id": number, "s": "a"})
        request.add(put, True)
    request.add(DeleteRequest().set_table_name("m").set_key({"sid": 1, "id": 9}), False)
    done = server.handle.write_multiple(request)
    assert done.get_success() and len(done.get_results()) == 4
    assert [one.get_success() for one in done.get_results()] == [True, True, True, False]
    request = WriteMultipleRequest()
    request.add(PutRequest().set_table_name("m").set_value({"sid": 1, "id": 7}), True)
    absent = PutRequest().set_table_name("m").set_value({"sid": 1, "id": 1}).set_return_row(True)
    request.add(absent.set_option(PutOption.IF_ABSENT), True)
    failed = server.handle.write_multiple(request)
    assert not failed.get_success() and failed.get_failed_operation_index() == 1
    assert failed.get_failed_operation_result().get_existing_value()["s"] == "a"
    assert server.get("m", {"sid": 1, "id": 7}).get_value() is None


def ranges_are_deleted_a_part_at_a_time(server):
    server.define("create table m(sid integer, id integer, s string, primary key(shard(sid), id))")
    for number in range(20):
        server.put("m", {"sid": 1, "id": number})
    request = MultiDeleteRequest().set_table_name("m").set_key({"sid": 1})
    request.set_range(FieldRange("id").set_start(3, True).set_end(6, False))
    assert server.handle.multi_delete(request).get_num_deletions() == 3
    request, counts = MultiDeleteRequest().set_table_name("m").set_key({"sid": 1}), []
    request.set_max_write_kb(8)
    while True:
        done = server.handle.multi_delete(request)
        counts.append(done.get_num_deletions())
        if done.get_continuation_key() is None:
            break
        request.set_continuation_key(done.get_continuation_key())
    assert counts == [8, 8, 1], counts


def queries_are_answered_a_part_at_a_time(server):
    users(server)
    for number in range(10):
        server.put("users", {"id": number, "name": f"n{number}", "age": number % 3})
    for statement, count in [
            ("select * from users", 10),
            ("select id, name from users where id > 4 order by name desc", 5),
            ("select age, count(*) as n from users group by age", 3),
            ("select id from users order by id limit 4 offset 3", 4)]:
        request, rows = QueryRequest().set_statement(statement).set_limit(2), []
        while not rows or not request.is_done():
            part = server.handle.query(request).get_results()
            assert len(part) <= 2, (statement, part)
            rows += part
        assert len(rows) == count, (statement, rows)
    joined = "select u.id, v.id as other from users u, users v where u.id = v.id and u.id = 3"
    rows = server.handle.query(QueryRequest().set_statement(joined)).get_results()
    assert rows == [{"id": 3, "other": 3}], rows


def prepared_statements_take_variables(server):
    users(server)
    server.put("users", {"id": 1, "name": "ada", "age": 36})
    statement = "declare $id integer; select name from users where id = $id and age > ?"
    prepared = server.handle.prepare(PrepareRequest().set_statement(statement))
    prepared = prepared.get_prepared_statement()
    prepared.set_variable("$id", 1)
    prepared.set_variable(1, 30)
    rows = server.handle.query(QueryRequest().set_prepared_statement(prepared)).get_results()
    assert rows == [{"name": "ada"}], rows
    update = "update users set age = age + 1 where id = 1 returning age"
    rows = server.handle.query(QueryRequest().set_statement(update)).get_results()
    assert rows == [{"age": 37}], rows


def rows_have_times_of_their_writes(server):
    users(server)
    before = time.time() * 1000
    server.put("users", {"id": 1, "name": "ann"})
    told = server.get("users", {"id": 1}).get_modification_time()
    assert abs(told - before) < 5_000, (told, before)
    statement = "select modification_time($u) as at from users $u"
    rows = server.handle.query(QueryRequest().set_statement(statement)).get_results()
    assert rows[0]["at"].year >= 2026, rows


def tables_have_namespaces(server):
    server.handle.do_system_request("create namespace sales", 20_000, 50)
    assert server.handle.list_namespaces() == ["sales", "sysdefault"]
    server.define("create table sales:t(id integer, v string, primary key(id))")
    server.put("sales:t", {"id": 1, "v": "a"})
    request = GetRequest().set_table_name("t").set_key({"id": 1}).set_namespace("sales")
    assert server.handle.get(request).get_value() == {"id": 1, "v": "a"}
    query = QueryRequest().set_statement("select v from sales:t")
    assert server.handle.query(query).get_results() == [{"v": "a"}]
    tables = server.handle.list_tables(ListTablesRequest().set_namespace("sales")).get_tables()
    assert tables == ["sales:t"], tables
    raises(IllegalArgumentException, server.handle.do_system_request, "drop namespace sales",
           20_000, 50)
    server.handle.do_system_request("drop namespace sales cascade", 20_000, 50)
    assert server.handle.list_namespaces() == ["sysdefault"]


def rows_of_a_collection_have_any_fields(server):
    server.define("create table c(id integer, primary key(id)) as json collection")
    row = {"id": 1, "a": 1, "b": [1, "x", 2.5], "c": {"d": True}}
    server.put("c", row)
    assert server.get("c", {"id": 1}).get_value() == row
    server.define("create index i on c(c.d as boolean)")
    query = QueryRequest().set_statement("select * from c t where t.c.d = true")
    assert server.handle.query(query).get_results() == [row]
    update = "update c $t put $t {\"e\": 7}, remove $t.b where id = 1 returning *"
    rows = server.handle.query(QueryRequest().set_statement(update)).get_results()
    assert rows == [{"id": 1, "a": 1, "c": {"d": True}, "e": 7}], rows


def main():
    cases = [tables_are_made_altered_listed_and_dropped, rows_go_by_their_conditions,
             all_types_go_in_and_out, rows_expire_at_whole_hours_and_days, identities_are_told,
             groups_are_written_together, ranges_are_deleted_a_part_at_a_time,
             queries_are_answered_a_part_at_a_time,
             prepared_statements_take_variables, rows_have_times_of_their_writes,
             tables_have_namespaces, rows_of_a_collection_have_any_fields]
    run_each(cases, lambda *of: NosqlListener(store_of(*of)))


if __name__ == "__main__":
    main()
