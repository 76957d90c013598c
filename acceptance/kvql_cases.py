"""The files of the public query tests of Oracle NoSQL: settings, variables, statements, rows."""

import re
from collections import OrderedDict


def properties(path):
    """A Java properties file."""
    out, lines = OrderedDict(), open(path, encoding="latin-1").read().split("\n")
    i = 0
    while i < len(lines):
        line = lines[i].lstrip()
        i += 1
        if not line or line[0] in "#!":
            continue
        line = line.rstrip("\r")
        while line.endswith("\\") and not line.endswith("\\\\") and i < len(lines):
            line = line[:-1] + lines[i].lstrip()
            i += 1
        m = re.match(r"((?:\\.|[^=:\s\\])+)\s*[=:\s]\s*(.*)$", line)
        if m:
            unescape = lambda t: re.sub(
                r"\\(u[0-9a-fA-F]{4}|.)",
                lambda e: (
                    chr(int(e[1][1:], 16))
                    if len(e[1]) == 5
                    else {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}.get(e[1], e[1])
                ),
                t,
            )
            out[unescape(m[1])] = unescape(m[2])
    return out


def variables(props):
    out = {}
    for key, value in props.items():
        if not key.startswith("var-"):
            continue
        name, value, declared = key[4:], value.strip(), None
        if value.startswith("type:"):
            declared, value = value[5:].split(":", 1)
        if value == "" or value.lower() == "null":
            out[name] = (None, None, declared)
            continue
        if value.lower() == "jnull":
            out[name] = ("jnull", "jnull", declared)
            continue
        c = value[0]
        if c in "0123456789+-":
            kind = "number"
            if "-" in name[1:]:
                kind, name = name.split("-", 1)
        elif c == '"':
            value, kind = value[1:-1], "string"
        elif c == "{":
            kind = "json"
        elif c == "[":
            kind = "array"
        else:
            kind = "boolean"
        out[name] = (value, kind, declared)
    return out


def statements(path):
    out, now = [], ""
    for line in open(path, encoding="utf8"):
        line = line.strip()
        if line.startswith("#"):
            continue
        if line:
            now += line + "\n"
        elif now:
            out.append(now)
            now = ""
    return out + ([now] if now else [])


def records(path):
    """(table, JSON text) of a data file."""
    table, buffer, depth = None, "", 0
    for line in open(path, encoding="utf8"):
        line = line.rstrip("\n")
        if depth == 0 and (not line.strip() or line.strip().startswith("#")):
            continue
        m = re.match(r"\s*table\s*:\s*(\S+)\s*$", line, re.I)
        if m:
            table = m[1]
            continue
        buffer += line
        bare = re.sub(r'"(?:\\.|[^"\\])*"', "", line)
        depth += bare.count("{") - bare.count("}")
        if depth == 0:
            yield table, buffer.strip()
            buffer = ""


class JavaRandom:
    """java.util.Random.nextInt: the data of PrimIndexSetup2 come from it."""

    def __init__(self, seed):
        self.seed = (seed ^ 0x5DEECE66D) & ((1 << 48) - 1)

    def bits(self, n):
        self.seed = (self.seed * 0x5DEECE66D + 0xB) & ((1 << 48) - 1)
        v = self.seed >> (48 - n)
        return v - (1 << n) if n == 32 and v >= 1 << 31 else v

    def next_int(self, bound):
        r = self.bits(31)
        if bound & (bound - 1) == 0:
            return (bound * r) >> 31
        u = r
        while True:
            r = u % bound
            if u - r + (bound - 1) < 1 << 31:
                return r
            u = self.bits(31)


FOO = "CREATE TABLE Foo(id1 INTEGER, %s firstName STRING, lastName STRING, age INTEGER, id4 STRING, primary key (%s))"


def generated(name):
    """(DDL, rows, drop) of the setups that the suite has as Java classes: (ddl list, [(table, row, if_absent)], drop list)"""
    if name == "PrimIndexSetup":
        ddl = [FOO % ("id2 DOUBLE, id3 ENUM(tok0, tok1, tok2),", "id1, id2, id3, id4")]
        rows = [
            (
                "Foo",
                dict(
                    id1=i,
                    id2=i * 10.0 + j,
                    id3=f"tok{i % 3}",
                    id4=f"id4-{i}",
                    firstName=f"first{i}",
                    lastName=f"last{i}",
                    age=i + 10,
                ),
                False,
            )
            for i in range(1, 6)
            for j in range(3)
        ]
        return ddl, rows, ["DROP TABLE Foo"]
    if name in ("PrimIndexSetup2", "PrimIndexSetup3"):
        ddl = [FOO % ("id2 INTEGER, id3 INTEGER,", "shard(id1, id2), id3, id4")]
        if name.endswith("3"):
            ddl += ["CREATE INDEX idx1 on Foo (age, firstName)", "CREATE INDEX idx2 on Foo (age)"]
        r = JavaRandom(1)
        rows = [
            (
                "Foo",
                dict(
                    id1=r.next_int(20),
                    id2=r.next_int(5),
                    id3=r.next_int(5),
                    id4=f"id4-{i}",
                    firstName=f"first{i}",
                    lastName=f"last{i}",
                    age=i + 10,
                ),
                True,
            )
            for i in range(20)
            for j in range(15 if name.endswith("3") else 5)
            for k in range(3)
        ]
        return ddl, rows, ["DROP TABLE Foo"]
    if name == "UserTable":
        ddl = [
            "CREATE TABLE Users(id INTEGER, firstName STRING, lastName STRING, age INTEGER, address RECORD(city STRING, state STRING, "
            "phones ARRAY(RECORD(work INTEGER, home INTEGER)), ptr STRING), children MAP(RECORD(age LONG, friends ARRAY(STRING))), primary key (id))"
        ]
        rows = [
            (
                "Users",
                dict(
                    id=i,
                    firstName=f"first{i}",
                    lastName=f"last{i}",
                    age=i + 10,
                    address=dict(
                        city="Boston", state="MA", phones=[dict(work=111, home=222)], ptr=None
                    ),
                    children=dict(
                        john=dict(age=3, friends=["f1"]), cory=dict(age=4, friends=["f2"])
                    ),
                ),
                False,
            )
            for i in range(10)
        ]
        return ddl, rows, ["DROP TABLE Users"]
    return [], [], []
