"""TQL: what its reference says of conditions, functions, order and limits."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import griddb_python as griddb
import pytest
from conftest import rows, value
from griddb_python import ContainerInfo, ContainerType, GSException, Type

COLUMNS = [
    ["id", Type.INTEGER],
    ["flag", Type.BOOL],
    ["n", Type.LONG],
    ["x", Type.DOUBLE],
    ["s", Type.STRING],
    ["at", Type.TIMESTAMP],
    ["numbers", Type.INTEGER_ARRAY],
]
NOON = datetime(2020, 2, 29, 12)


@pytest.fixture
def place():
    """In memory alone: what a query means does not depend on where the rows are."""
    return "memory:"


@pytest.fixture
def things(store):
    container = store.put_container(ContainerInfo("things", COLUMNS))
    container.multi_put(
        [
            [1, True, 10, 1.34, "RDB", NOON, [1, 2]],
            [2, False, 20, 3.67, "RDBMS", NOON + timedelta(days=1), [3]],
            [3, None, None, -0.23, "ORDB", NOON + timedelta(hours=1), []],
            [4, True, -7, -3.89, "it's 10%", None, None],
        ]
    )
    return container


def ids(container, condition):
    return [row[0] for row in rows(container, f"select * where {condition}")]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("n = 10", [1]),
        ("n <> 10", [2, 4]),
        ("n >= 10 and n <= 20", [1, 2]),
        ("-n = 7", [4]),
        ("n + 1 * 2 = 12", [1]),
        ("(n + 1) * 2 = 22", [1]),
        ("n % 3 = 1", [1]),
        ("n / 4 = 5", [2]),
        ("x > 3.6e0", [2]),
        ("x = 1.34", [1]),
        ("n < INF", [1, 2, 4]),
        ("N = 10 AND ID = 1", [1]),
        ('"n" = 10', [1]),
    ],
)
def test_numbers(things, condition, found):
    assert ids(things, condition) == found


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("flag", [1, 4]),
        ("not flag", [2]),
        ("flag = TRUE", [1, 4]),
        ("flag IS NULL", [3]),
        ("flag is not null and not flag", [2]),
        ("not not flag", [1, 4]),
        ("flag and n > 0", [1]),
        ("flag or n > 15", [1, 2, 4]),
        ("flag xor n > 5", [2, 4]),
        ("flag xor n = 10", [4]),
        ("not n = 10 and id < 4", [2]),
        ("id = 1 or id = 2 and n = 0", [1]),
    ],
)
def test_truth(things, condition, found):
    assert ids(things, condition) == found


def test_null_is_not_unlike_the_empty_pattern(things):
    things.put([5, None, None, None, None, None, None])
    assert ids(things, "s not like ''") == [1, 2, 3, 4]
    assert ids(things, "not (s like '')") == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("s LIKE '_DB%'", [1, 2]),
        ("s like 'rdb%'", []),
        ("s like '%10$%' escape '$'", [4]),
        ("s like ''", []),
        ("s not like '%DB%'", [4]),
        ("s = 'it''s 10%'", [4]),
        ("CHAR_LENGTH(s) = 5", [2]),
        ("CONCAT(s, NULL, 'x') = 'RDBx'", [1]),
        ("SUBSTRING(s, 2) = 'DB'", [1]),
        ("SUBSTRING(s, 2, 2) = 'DB'", [1, 2]),
        ("LOWER(s) = 'rdb'", [1]),
        ("UPPER(s) = 'IT''S 10%'", [4]),
    ],
)
def test_text(things, condition, found):
    assert ids(things, condition) == found


def test_upper_leaves_what_is_not_ascii(things):
    things.put([5, None, None, None, "äb", None, None])
    assert ids(things, "UPPER(s) = 'äB'") == [5]


def test_a_backslash_is_a_sign_like_any_other(things):
    things.put([5, None, None, None, "a\\b", None, None])
    assert ids(things, "s like 'a\\_'") == [5]
    assert ids(things, "s = 'a\\b'") == [5]


@pytest.mark.parametrize(
    ("function", "results"),
    [
        ("ROUND", [1.0, 4.0, 0.0, -4.0]),
        ("FLOOR", [1.0, 3.0, -1.0, -4.0]),
        ("CEILING", [2.0, 4.0, 0.0, -3.0]),
    ],
)
def test_rounding_is_that_of_the_table_in_the_reference(things, function, results):
    for number, result in enumerate(results, 1):
        assert ids(things, f"id = {number} and {function}(x) = {result}") == [number]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("at = TIMESTAMP('2020-02-29T12:00:00.000Z')", [1]),
        ("at = TIMESTAMP('2020-02-29T12:00:00Z')", [1]),
        ("at = TIMESTAMP('2020-02-29T21:00:00.000+09:00')", [1]),
        ("at = TIMESTAMP('2020-02-29T21:00:00+0900')", [1]),
        ("at < NOW()", [1, 2, 3]),
        ("at > TIMESTAMPADD(HOUR, TIMESTAMP('2020-02-29T12:00:00Z'), 1)", [2]),
        ("TIMESTAMPADD(MINUTE, at, -30) = TIMESTAMP('2020-02-29T12:30:00Z')", [3]),
        ("at = TIMESTAMPADD(YEAR, TIMESTAMP('2021-02-28T12:00:00Z'), -1)", []),
        ("at = TIMESTAMPADD(MONTH, TIMESTAMP('2020-01-31T12:00:00Z'), 1)", [1]),
        ("TIMESTAMPADD(YEAR, at, 1) = TIMESTAMP('2021-02-28T12:00:00Z')", [1]),
        ("at = TO_TIMESTAMP_MS(1582977600000)", [1]),
        ("TO_EPOCH_MS(at) = 1582977600000", [1]),
        ("n < TO_EPOCH_MS(NOW())", [1, 2, 4]),
        ("TO_TIMESTAMP_MS(n) = TIMESTAMP('1970-01-01T00:00:00.020Z')", [2]),
        ("TIMESTAMPDIFF(MINUTE, at, TIMESTAMP('2020-02-29T12:00:00Z')) = 60", [3]),
        ("TIMESTAMPDIFF(DAY, at, TIMESTAMP('2020-02-29T13:00:00Z')) = 0", [1, 2, 3]),
        ("TIMESTAMPDIFF(MONTH, at, TIMESTAMP('2019-12-29T12:00:00Z')) = 2", [1, 2, 3]),
        ("TIMESTAMPDIFF(MONTH, at, TIMESTAMP('2019-12-29T12:30:00Z')) = 1", [1]),
        ("TIMESTAMPDIFF(YEAR, at, TIMESTAMP('2010-03-01T00:00:00Z')) = 9", [1, 3]),
        ("TIMESTAMPDIFF(YEAR, TIMESTAMP('2010-03-01T00:00:00Z'), at) = -9", [1, 3]),
        ("TIMESTAMP_DIFF(MICROSECOND, at, TIMESTAMP_US('2020-02-29T11:59:59.999999Z')) = 1", [1]),
        ("TIMESTAMPDIFF(NANOSECOND, at, TIMESTAMP_MS('2020-02-29T11:59:59.999Z')) = 1000000", [1]),
        ("TIMESTAMP_ADD(NANOSECOND, at, 1) = TIMESTAMP_NS('2020-02-29T12:00:00.000000001Z')", [1]),
        ("at < TIMESTAMP_NS('2020-02-29T12:00:00.000000001Z')", [1]),
        ("at = TIMESTAMPADD(MICROSECOND, TIMESTAMP('2020-02-29T12:00:00.001Z'), -1000)", [1]),
    ],
)
def test_moments(things, condition, found):
    assert ids(things, condition) == found


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("ARRAY_LENGTH(numbers) = 2", [1]),
        ("ARRAY_LENGTH(numbers) = 0", [3]),
        ("ARRAY_LENGTH(numbers) >= 2 and ELEMENT(1, numbers) = 2", [1]),
        ("ELEMENT(0, numbers) = 3", [2]),
    ],
)
def test_arrays(things, condition, found):
    assert ids(things, condition) == found


def test_now_is_the_same_throughout_a_query_and_new_in_the_next(series):
    query = series.query("select * where timestamp > NOW() and timestamp <= NOW()")
    assert list(query.fetch()) == []
    recent = series.query("select * where timestamp > TIMESTAMPADD(MINUTE, NOW(), -1)")
    assert not recent.fetch().has_next()
    series.put([datetime.now(timezone.utc), 1.0, 1, None])
    assert recent.fetch().has_next()


def test_rows_are_sorted_by_several_columns(things):
    found = rows(things, "select id order by flag desc, n")
    assert found == [[3], [4], [1], [2]]


def test_rows_are_limited_from_a_place_on(things):
    assert rows(things, "select id order by id desc limit 2 offset 1") == [[3], [2]]
    assert rows(things, "select id limit 0") == []


def test_the_limit_of_the_program_and_of_the_query_hold_both(things):
    query = things.query("select id limit 3")
    query.set_fetch_options(limit=2)
    assert list(query.fetch()) == [[1], [2]]
    query.set_fetch_options(limit=10)
    assert query.fetch().size == 3
    query.set_fetch_options()
    assert query.fetch().size == 3


# Aggregations and functions of time


def test_the_weighted_average_is_that_of_the_reference(series):
    assert value(series, "select TIME_AVG(voltage)", Type.DOUBLE) == 2.25
    assert value(series, "select AVG(voltage)", Type.DOUBLE) == 2.5


def test_one_row_is_its_own_weighted_average(series):
    query = "select TIME_AVG(voltage) where timestamp >= TIMESTAMP('2011-07-01T00:00:40Z')"
    assert value(series, query) == 1.0
    assert rows(series, query.replace("2011", "2012")) == []


def test_rows_without_a_value_do_not_weigh(series):
    series.put(["2011-07-01T00:00:15Z", None, None, None])
    assert value(series, "select TIME_AVG(voltage)", Type.DOUBLE) == 2.25


@pytest.mark.parametrize(
    ("function", "second", "state"),
    [
        ("TIME_NEXT", 10, "b"),
        ("TIME_NEXT", 11, "c"),
        ("TIME_NEXT", 41, None),
        ("TIME_NEXT_ONLY", 10, "c"),
        ("TIME_PREV", 10, "b"),
        ("TIME_PREV", 39, "c"),
        ("TIME_PREV_ONLY", 10, "a"),
        ("TIME_PREV_ONLY", 0, None),
    ],
)
def test_a_row_next_to_a_moment(series, function, second, state):
    found = rows(series, f"select {function}(*, TIMESTAMP('2011-07-01T00:00:{second:02d}Z'))")
    assert [row[3] for row in found] == ([state] if state else [])


@pytest.mark.parametrize(
    ("second", "row"),
    [
        (10, [3.0, 3, "b"]),
        (15, [2.5, 3, "b"]),
        (30, [1.5, 2, "c"]),
        (41, None),
    ],
)
def test_a_value_is_interpolated(series, second, row):
    at = f"2011-07-01T00:00:{second}Z"
    found = rows(series, f"select TIME_INTERPOLATED(voltage, TIMESTAMP('{at}'))")
    moment = datetime(2011, 7, 1, 0, 0, second)
    assert found == ([[moment, *row]] if row else [])


def test_what_lies_next_to_null_is_null(series):
    series.put(["2011-07-01T00:00:12Z", None, 7, "n"])
    [row] = rows(series, "select TIME_INTERPOLATED(voltage, TIMESTAMP('2011-07-01T00:00:15Z'))")
    assert row[1:] == [None, 7, "n"]


def sampled(series, column, first, last, every, order=""):
    at = "TIMESTAMP('2011-07-01T00:00:{:02d}Z')"
    query = (
        f"select TIME_SAMPLING({column}, {at.format(first)}, {at.format(last)}, {every}, SECOND)"
    )
    return [[row[0].second, *row[1:]] for row in rows(series, query + order)]


def test_rows_are_sampled_at_equal_distances(series):
    assert sampled(series, "voltage", 0, 59, 15) == [
        [0, 4.0, 4, "a"],
        [15, 2.5, 3, "b"],
        [30, 1.5, 2, "c"],
    ]


def test_a_sample_of_all_columns_has_the_row_before(series):
    assert sampled(series, "*", 5, 45, 20) == [
        [5, 4.0, 4, "a"],
        [25, 2.0, 2, "c"],
        [45, 1.0, 1, "d"],
    ]


@pytest.mark.parametrize(
    ("last", "share", "between"),
    [
        (100, "02.9", 29),
        (-100, "02.95", -29),
        ((1 << 63) - 1, "09.999", (1 << 63) - 1 - 922337203685478),
    ],
)
def test_whole_numbers_are_interpolated_exactly(store, last, share, between):
    columns = [["at", Type.TIMESTAMP], ["n", Type.LONG]]
    clock = store.put_container(ContainerInfo("clock", columns, ContainerType.TIME_SERIES))
    clock.multi_put([["2020-01-01T00:00:00Z", 0], ["2020-01-01T00:00:10Z", last]])
    at = f"TIMESTAMP('2020-01-01T00:00:{share}Z')"
    [row] = rows(clock, f"select TIME_INTERPOLATED(n, {at})")
    assert row[1] == between


def test_samples_are_sorted_and_limited(series):
    assert sampled(series, "voltage", 0, 40, 15, " order by voltage limit 2") == [
        [30, 1.5, 2, "c"],
        [15, 2.5, 3, "b"],
    ]


def test_rows_of_the_extreme_value(things):
    things.put([5, None, 20, None, None, None, None])
    assert [row[0] for row in rows(things, "select MAX_ROWS(n)")] == [2, 5]
    assert [row[0] for row in rows(things, "select MIN_ROWS(n) where n > 0")] == [1]
    assert [row[0] for row in rows(things, "select MAX_ROWS(at)")] == [2]


def test_aggregations_take_conditions(things):
    assert value(things, "select COUNT(*) where flag") == 2
    assert value(things, "select SUM(n) where id < 3") == 30
    assert value(things, "select MIN(at)") == NOON


# Plans


def test_explain_tells_the_plan_line_by_line(series):
    entries = [entry.get() for entry in rows(series, "explain select * where level > 2")]
    assert [entry[0] for entry in entries] == list(range(len(entries)))
    assert all(len(entry) == 6 for entry in entries)
    assert any("plant1" in entry[4] for entry in entries)


AT = "TIMESTAMP('2011-07-01T00:00:10Z')"


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        ("select * where timestamp >= TIMESTAMPADD(SECOND, NOW(), -10)", 1),
        (f"select max(voltage) where timestamp < {AT}", 1),
        (f"select * where timestamp < {AT} and {' and '.join(['level <> 9'] * 2_000)}", 1),
        (f"select TIME_NEXT(*, {AT})", 1),
        (f"select TIME_PREV_ONLY(*, {AT})", 1),
        (f"select TIME_AVG(level) where timestamp > {AT}", 1),
        (f"select TIME_INTERPOLATED(level, {AT})", 3),
        (f"select TIME_SAMPLING(*, {AT}, {AT}, 1, DAY)", 3),
    ],
)
def test_a_range_of_time_is_read_as_a_range_of_keys(series, query, reads):
    """So a query on a small part of a long series does not read the rest."""
    scans = [
        entry.get()[4]
        for entry in rows(series, f"explain {query}")
        if entry.get()[4].startswith("StoreScan")
    ]
    assert len(scans) == reads
    assert all("range read of 1 partial key (_griddb_series) with" in scan for scan in scans)


@pytest.mark.parametrize(
    ("condition", "states"),
    [
        ("timestamp > {}", "cd"),
        ("timestamp >= {}", "cd"),
        ("timestamp < {}", "ab"),
        ("timestamp <= {}", "ab"),
        ("timestamp = {}", ""),
        ("timestamp <> {}", "abcd"),
        ("{} < timestamp", "cd"),
        ("{} >= timestamp", "ab"),
    ],
)
def test_a_moment_finer_than_the_row_key_lies_between_two_of_them(series, condition, states):
    finer = "TIMESTAMP_NS('2011-07-01T00:00:10.000000001Z')"
    query = "where " + condition.format(finer)
    assert "".join(row[3] for row in rows(series, f"select * {query}")) == states


def test_the_first_and_the_last_moment(series):
    kinds = Type.TIMESTAMP
    assert value(series, "select max(timestamp)", kinds) == datetime(2011, 7, 1, 0, 0, 40)
    assert value(series, "select min(timestamp)", kinds) == datetime(2011, 7, 1)
    query = "select max(timestamp) where voltage > 2.5"
    assert value(series, query, kinds) == datetime(2011, 7, 1, 0, 0, 10)
    assert rows(series, "select max(timestamp) where voltage > 9") == []
    plan = " ".join(entry.get()[4] for entry in rows(series, "explain select max(timestamp)"))
    assert "order=key descending, limit=1" in plan


def test_a_range_of_time_in_microseconds_is_read_as_a_range_of_keys(series):
    start, end = datetime(2011, 7, 1, 0, 0, 9, 999999), datetime(2011, 7, 1, 0, 0, 20, 1)
    query = series.query_by_time_series_range(start, end)
    assert [row[3] for row in query.fetch()] == ["b", "c"]
    plan = " ".join(row["plan"] for row in series._store.sql(f"EXPLAIN {query._plan.sql}").rows())
    assert "with 2011-07-01T00:00:10.000 <= timestamp <= 2011-07-01T00:00:20.000" in plan


# What is refused


@pytest.mark.parametrize(
    ("query", "reason", "code"),
    [
        ("", "position 1: expected SELECT, found the end", 151001),
        ("select", "expected the name of a column", 151001),
        ("select * where", "position 15: expected a value", 151001),
        ("select * where n = ", "expected a value, found the end", 151001),
        ("select * where n ! 3", "position 18: '!' begins nothing", 151002),
        ("select * where (n = 3", r"expected '\)'", 151001),
        ("select * where n = 3 n", "expected the end of the query, found 'n'", 151001),
        ("select * where s = 'x", "begins nothing", 151002),
        ("select * limit -1", "a whole number of rows", 151001),
        ("select n group by n", "TQL has no GROUP BY", 151001),
        ("select * where n between 1 and 2", "TQL has no BETWEEN", 151001),
        ("select distinct n", "TQL has no DISTINCT|expected the end", 151001),
        ("select max(n), min(n)", "one function for a query", 151001),
        ("select * where nope = 1", "things has no column nope; its columns are id", 150012),
        ("select * order by nope", "has no column nope", 150012),
        ("select max(s)", "column s is of type STRING", 150020),
        ("select sum(*)", "SUM takes a column", 152002),
        ("select max(n) order by n", "ORDER BY", 151005),
        ("select median(n)", "MEDIAN cannot be selected", 150014),
        ("select * where median(n) = 1", "there is no function MEDIAN", 150014),
        ("select * where ST_MBRIntersects(s, s)", "GEOMETRY as text", 152502),
        ("select TIME_AVG(n)", "container things is a collection", 152002),
        ("select * where at > TIMESTAMP('yesterday')", "'yesterday' is not a timestamp", 145006),
        ("select * where at > TIMESTAMP('2020-02-30T00:00:00Z')", "is not a timestamp", 145006),
        ("select * where at > TIMESTAMP(s)", "TIMESTAMP takes a text", 152002),
        ("select * where at > TIMESTAMPADD(WEEK, at, 1)", "the unit of time is WEEK", 152002),
        ("select * where TIMESTAMPADD(DAY, at, n) > at", "written out", 152502),
        ("select * where CHAR_LENGTH(s, s) = 1", "takes 1 arguments, not 2", 152011),
        ("select * where SUBSTRING(s, 0) = ''", "begins at 1", 152002),
        ("select * where ELEMENT(-1, numbers) = 1", "the place of the element", 152002),
    ],
)
def test_what_is_no_tql_is_refused_when_it_is_fetched(things, query, reason, code):
    asked = things.query(query)
    with pytest.raises(GSException, match=reason) as raised:
        asked.fetch()
    assert raised.value.get_error_code(0) == code


def test_a_very_deep_query_is_refused(things):
    with pytest.raises(GSException, match="deep"):
        rows(things, "select * where " + "(" * 1000 + "n = 1" + ")" * 1000)


@pytest.mark.parametrize("count", [2_000, 10_000])
def test_a_long_chain_of_conditions_is_no_deep_one(things, count):
    either = " or ".join(f"n = {number}" for number in range(count))
    assert ids(things, either) == [1, 2]
    # The row whose n is NULL is in neither.
    assert ids(things, f"not ({either})") == [4]
    neither = " and ".join(f"n <> {number}" for number in range(count))
    assert ids(things, neither) == [4]


def test_in_a_long_chain_and_binds_more_than_or(things):
    pairs = " or ".join(f"n = {number} and id = {number - 9}" for number in range(2_000))
    assert ids(things, pairs) == [1]
    either = " or ".join(f"n = {number}" for number in range(2_000))
    assert ids(things, f"{either} and id = 1") == [1, 2]
    assert ids(things, f"id = 1 and ({either}) or id = 4") == [1, 4]
    neither = " and ".join(f"n <> {number}" for number in range(2_000))
    assert ids(things, f"id = 3 or {neither} or n = 20") == [2, 3, 4]


@pytest.mark.parametrize("count", [64, 65, 129, 1_025])
def test_each_condition_of_a_long_chain_counts(things, count):
    for place in {0, 1, 31, 32, 33, 63, count // 2 - 1, count // 2, count - 2, count - 1}:
        conditions = ["id = 0"] * count
        conditions[place] = "id = 2"
        assert ids(things, " or ".join(conditions)) == [2]
        conditions = ["id < 4"] * count
        conditions[place] = "id > 2"
        assert ids(things, " and ".join(conditions)) == [3]


def test_a_long_sum_is_a_deep_query(things):
    sums = " + ".join(["1"] * 2_000)
    with pytest.raises(GSException, match="deep"):
        rows(things, f"select * where n = {sums}")


def test_a_division_by_zero_is_an_error_of_the_query(things):
    with pytest.raises(GSException, match="things.*division by zero in things.n"):
        rows(things, "select * where n / 0 = 1")


# Queries over time without text


def test_a_range_of_time(series):
    start, end = datetime(2011, 7, 1, 0, 0, 10), datetime(2011, 7, 1, 0, 0, 20)
    found = series.query_by_time_series_range(start, end).fetch()
    assert [row[3] for row in found] == ["b", "c"]
    order = griddb.QueryOrder.DESCENDING
    found = series.query_by_time_series_range(None, end, order).fetch()
    assert [row[3] for row in found] == ["c", "b", "a"]


def test_samples_without_text(series):
    def sample(columns, mode):
        start, end = datetime(2011, 7, 1), datetime(2011, 7, 1, 0, 0, 30)
        unit = griddb.TimeUnit.SECOND
        query = series.query_by_time_series_sampling(start, end, columns, mode, 15, unit)
        return [row[1:] for row in query.fetch()]

    modes = griddb.InterpolationMode
    assert sample(["voltage", "level"], modes.LINEAR_OR_PREVIOUS) == [
        [4.0, 4, "a"],
        [2.5, 2, "b"],
        [1.5, 1, "c"],
    ]
    assert sample(None, modes.EMPTY) == [[4.0, 4, "a"], [None, None, None], [None, None, None]]


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        ("MINIMUM", 2),
        ("MAXIMUM", 3),
        ("TOTAL", 5),
        ("AVERAGE", 2.5),
        ("VARIANCE", 0.5),
        ("COUNT", 2),
        ("WEIGHTED_AVERAGE", 2.5),
    ],
)
def test_aggregations_without_text(series, kind, result):
    start, end = datetime(2011, 7, 1, 0, 0, 10), datetime(2011, 7, 1, 0, 0, 20)
    found = series.aggregate_time_series(start, end, griddb.Aggregation[kind], "level")
    assert found.get() == result
    later = datetime(2012, 1, 1)
    if kind not in ("TOTAL", "COUNT"):
        none = series.aggregate_time_series(later, later, griddb.Aggregation[kind], "level")
        assert none is None


def test_rows_are_counted_without_a_column(series):
    found = series.aggregate_time_series(None, None, griddb.Aggregation.COUNT)
    assert found.get(Type.LONG) == 4
