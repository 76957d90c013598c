"""Random work against plain Python: containers against dicts, conditions against functions."""

from __future__ import annotations

import random
import warnings

import griddb_python as griddb
import pytest
from conftest import rows
from griddb_python import ContainerInfo, GSException, Type

KEYS = [f"k{number}" for number in range(12)]


def random_row(choice):
    return [choice.choice(KEYS), choice.choice([True, False, None]), choice.randrange(100)]


@pytest.mark.parametrize("seed", range(5))
def test_a_container_does_what_a_dict_does(store, seed):
    """The dict holds rows by key. A commit copies it, an abort goes back to the copy."""
    choice = random.Random(seed)
    columns = [["k", Type.STRING], ["flag", Type.BOOL], ["n", Type.LONG]]
    container = store.put_container(ContainerInfo("a", columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", griddb.TransactionWarning)
        container.set_auto_commit(False)
    model, committed = {}, {}
    for _ in range(150):
        step = choice.randrange(8)
        if step < 2:
            row = random_row(choice)
            assert container.put(row) == (row[0] in model)
            model[row[0]] = row
        elif step == 2:
            many = [random_row(choice) for _ in range(choice.randrange(6))]
            container.multi_put(many)
            model.update((row[0], row) for row in many)
        elif step == 3:
            key = choice.choice(KEYS)
            assert container.remove(key) == (model.pop(key, None) is not None)
        elif step == 4:
            limit = choice.randrange(100)
            row_set = container.query(f"select * where n < {limit}").fetch(True)
            for row in row_set:
                if row[2] % 2:
                    row_set.remove()
                    del model[row[0]]
                else:
                    model[row[0]] = [row[0], True, row[2] + 1]
                    row_set.update(model[row[0]])
        elif step == 5:
            key = choice.choice(KEYS)
            assert container.get(key) == model.get(key)
        elif step == 6:
            container.commit()
            committed = dict(model)
        else:
            container.abort()
            model = dict(committed)
        assert rows(container) == [model[key] for key in sorted(model)]


# Conditions with what they mean: a text of TQL, and a function of a row, where None is NULL.


def number(choice, depth):
    kind = choice.randrange(4 if depth else 2)
    if kind == 0:
        return "n", lambda row: row[2]
    if kind == 1:
        literal = choice.randrange(-5, 30)
        return str(literal), lambda row: literal
    sign = choice.choice("+-*")
    (left, of_left), (right, of_right) = number(choice, depth - 1), number(choice, depth - 1)

    def result(row):
        a, b = of_left(row), of_right(row)
        if a is None or b is None:
            return None
        return {"+": a + b, "-": a - b, "*": a * b}[sign]

    return f"({left} {sign} {right})", result


def comparison(choice):
    (left, of_left), (right, of_right) = number(choice, 2), number(choice, 2)
    sign = choice.choice(["=", "<>", "<", "<=", ">", ">="])

    def result(row):
        a, b = of_left(row), of_right(row)
        if a is None or b is None:
            return None
        signs = {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
        return signs[sign]

    return f"{left} {sign} {right}", result


def condition(choice, depth):
    kind = choice.randrange(8 if depth else 4)
    if kind < 2:
        return comparison(choice)
    if kind == 2:
        return "flag", lambda row: row[1]
    if kind == 3:
        text, of = number(choice, 1)
        is_not = choice.choice(["", " not"])
        return f"{text} is{is_not} null", lambda row: (of(row) is None) != bool(is_not)
    left, of_left = condition(choice, depth - 1)
    if kind == 4:
        return f"not ({left})", lambda row: None if of_left(row) is None else not of_left(row)
    right, of_right = condition(choice, depth - 1)
    sign = {5: "and", 6: "or", 7: "xor"}[kind]

    def result(row):
        a, b = of_left(row), of_right(row)
        if sign == "and":
            return False if a is False or b is False else None if None in (a, b) else True
        if sign == "or":
            return True if a is True or b is True else None if None in (a, b) else False
        return None if None in (a, b) else a != b

    return f"({left}) {sign} ({right})", result


@pytest.mark.parametrize("seed", range(4))
def test_conditions_mean_what_the_reference_says_of_null_and_truth(store, seed):
    choice = random.Random(seed)
    columns = [["k", Type.LONG], ["flag", Type.BOOL], ["n", Type.LONG]]
    container = store.put_container(ContainerInfo("a", columns))
    flags, numbers = [True, False, None], [None, *range(-3, 25, 4)]
    stored = [[k, choice.choice(flags), choice.choice(numbers)] for k in range(40)]
    container.multi_put(stored)
    for _ in range(60):
        text, of = condition(choice, 3)
        expected = [row for row in stored if of(row) is True]
        assert rows(container, f"select * where {text}") == expected, text


@pytest.mark.parametrize("seed", range(4))
def test_a_query_with_a_fault_is_refused_by_a_gsexception_only(store, seed):
    """Pieces of sound queries, some of them lost, doubled or swapped."""
    choice = random.Random(seed)
    columns = [["k", Type.LONG], ["flag", Type.BOOL], ["n", Type.LONG]]
    container = store.put_container(ContainerInfo("a", columns))
    refused = 0
    for _ in range(120):
        text, _ = condition(choice, 2)
        query = f"select * from a where {text} order by n desc limit 3 offset 1"
        words = query.replace("(", " ( ").replace(")", " ) ").split()
        at, other = choice.randrange(len(words)), choice.randrange(len(words))
        if choice.random() < 0.3:
            del words[at]
        elif choice.random() < 0.5:
            words.insert(at, words[other])
        else:
            words[at], words[other] = words[other], words[at]
        try:
            rows(container, " ".join(words))
        except GSException as error:
            refused += 1
            assert error.get_message(0) and error.get_error_code(0)
    assert 0 < refused < 120


def test_a_store_that_closes_under_its_objects_raises_gsexceptions_only(store, people, series):
    people.put(["a", True, 1, None])
    query, predicate = people.query("select *"), store.create_row_key_predicate(Type.STRING)
    predicate.set_distinct_keys(["a"])
    info = store.get_container_info("people")
    store._tonnage.close()
    calls = [
        lambda: people.put(["b", True, 1, None]),
        lambda: people.multi_put([["b", True, 1, None]]),
        lambda: people.get("a"),
        lambda: people.remove("a"),
        lambda: people.flush(),
        lambda: people.create_index("count"),
        lambda: people.drop_index("count"),
        lambda: query.fetch(),
        lambda: series.aggregate_time_series(None, None, griddb.Aggregation.COUNT),
        lambda: store.fetch_all([query]),
        lambda: store.multi_get({"people": predicate}),
        lambda: store.multi_put({"people": []}),
        lambda: store.put_container(info),
        lambda: store.get_container("people"),
        lambda: store.get_container_info("people"),
        lambda: store.drop_container("people"),
        lambda: store.partition_info.get_container_names(0),
        lambda: store.partition_info.get_container_count(0),
    ]
    for call in calls:
        with pytest.raises(GSException, match="closed"):
            call()
