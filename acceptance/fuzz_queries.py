"""Random tables, queries and changes of the differential fuzzer.

A statement is made once, with marks where the databases write differently: «type:value» is a
literal, «type» the name of a type, {t} a table.
"""

import re

from fuzz_values import COMMON, TEXT, TYPES, literal, pick

KEYS = ["int", "long", "str", "double", "ts", "dec2", "uuid", "date", "dec10", "bin", "time",
        "bool", "float"]
INDEXED = [kind for kind in TYPES if kind != "json"]
NUMBERS = ["int", "long", "double", "float", "dec2", "dec10"]
COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]


class Table:
    def __init__(self, rng, name):
        self.name = name
        self.keys = [("k0", "long")]
        if rng.random() < 0.6:
            self.keys = [(f"k{n}", rng.choice(KEYS)) for n in range(rng.choice([1, 1, 2, 2, 3]))]
        kinds = list(TYPES)
        rng.shuffle(kinds)
        self.plain = [(f"c{n}", kind) for n, kind in enumerate(kinds[:rng.randint(3, 9)])]
        self.shard = rng.randint(0, len(self.keys))
        own = [column for column, kind in self.keys + self.plain if kind in INDEXED]
        self.indexes = []
        for _ in range(rng.randint(1, 3)):
            self.indexes.append(rng.sample(own, min(len(own), rng.choice([1, 1, 2]))))
        if any(kind == "json" for _, kind in self.plain) and rng.random() < 0.5:
            column = next(column for column, kind in self.plain if kind == "json")
            self.indexes.append([f"{column}.b"])

    @property
    def columns(self):
        return self.keys + self.plain

    def definitions(self, duck):
        columns = ", ".join(f"{column} {TYPES[kind][duck]}" for column, kind in self.columns)
        key = [column for column, _ in self.keys]
        if duck:
            yield f"CREATE TABLE {self.name} ({columns}, PRIMARY KEY ({', '.join(key)}))"
            return
        shard, rest = key[:self.shard], key[self.shard:]
        parts = ([f"SHARD({', '.join(shard)})"] if shard else []) + rest
        for suffix in ("", "_p"):
            yield f"CREATE TABLE {self.name}{suffix} ({columns}, PRIMARY KEY ({', '.join(parts)}))"
        for number, columns in enumerate(self.indexes):
            yield f"CREATE INDEX x{number} ON {self.name} ({', '.join(columns)})"


SPANS = re.compile(r"span_(greatest|least)\((.*?) \| (INTERVAL '[^']*')\)")


def of_spans(name, one, other, duck):
    """The longer or the shorter of two intervals. DuckDB's own functions go by months first: of
    18,322 days and a month the month is the greatest."""
    if not duck:
        return f"{name}({one}, {other})"
    sign = "<" if name == "greatest" else ">"
    return f"(CASE WHEN ({one}) IS NULL OR ({one}) {sign} {other} THEN {other} ELSE {one} END)"


def written(text, duck, suffix=""):
    """A statement in the words of one of the databases."""
    text = re.sub(r"«(\w+):(.*?)»", lambda m: literal(m[1], m[2], duck), text)
    text = re.sub(r"«(\w+)»", lambda m: TYPES[m[1]][duck], text)
    text = SPANS.sub(lambda m: of_spans(*m.groups(), duck), text)
    if duck:
        text = text.replace(") IGNORE NULLS", " IGNORE NULLS)")
    return re.sub(r"\{(\w+)\}", lambda m: m[1] + suffix, text)


class Maker:
    """Makes statements over tables."""

    def __init__(self, rng, tables):
        self.rng, self.tables = rng, tables
        self.aliases = 0

    def lit(self, kind, plain=False):
        return f"«{kind}:{pick(self.rng, kind, plain)}»"

    def beside(self, kind):
        """A literal beside a column of its type: now and then it is plain text."""
        if kind in ("str", "json") or self.rng.random() < 0.65:
            return self.lit(kind)
        return f"«{TEXT}{kind}:{pick(self.rng, kind)}»"

    def alias(self):
        self.aliases += 1
        return f"a{self.aliases}"

    def scope(self, table):
        alias = self.alias()
        return alias, [(f"{alias}.{column}", kind) for column, kind in table.columns]

    def of(self, scope, kind):
        found = [column for column, own in scope if own == kind]
        return self.rng.choice(found) if found else None

    # ---- expressions

    def expr(self, scope, kind, depth=2):
        rng = self.rng
        column = self.of(scope, kind)
        if kind == "uuid":
            # Text is read as one only beside a column.
            other = self.of(scope, kind)
            return rng.choice([column, column, f"coalesce({column}, {other})",
                               self.chosen(scope, kind, column), self.chosen(scope, kind, column),
                               f"CASE WHEN {self.pred(scope, 1)} THEN {column} ELSE {other} END"])
        if depth == 0 or rng.random() < 0.45:
            return column if column and rng.random() < 0.8 else self.lit(kind)
        inner = lambda other=kind: self.expr(scope, other, depth - 1)
        general = [
            lambda: f"CASE WHEN {self.pred(scope, 1)} THEN {inner()} ELSE {inner()} END",
            lambda: f"coalesce({inner()}, {inner()})",
            lambda: f"nullif({inner()}, {self.lit(kind)})",
            lambda: inner(),
        ]
        if column:
            general += [
                lambda: self.chosen(scope, kind, column),
                lambda: self.chosen(scope, kind, column),
                lambda: f"CASE {column} WHEN {self.beside(kind)} THEN {inner()} END",
            ]
        own = {
            "int": [lambda: f"CAST({inner('bool')} AS INTEGER)",
                    lambda: f"CAST(length({inner('str')}) AS INTEGER)"],
            "long": [lambda: f"({inner()} + {rng.randint(-3, 9)})", lambda: f"(-{inner()})",
                     lambda: f"({inner()} * {rng.randint(-2, 3)})",
                     lambda: f"({inner()} % {rng.randint(2, 5)})", lambda: f"abs({inner()})",
                     lambda: f"CAST({inner('int')} AS BIGINT)", lambda: f"({inner()} - {inner()})"],
            "double": [lambda: f"({inner()} + {inner()})", lambda: f"(-{inner()})",
                       lambda: f"({inner()} * 2)", lambda: f"abs({inner()})",
                       lambda: f"CAST({inner('long')} AS DOUBLE)",
                       lambda: f"CAST({inner('dec2')} AS DOUBLE)",
                       lambda: f"CAST({inner('float')} AS DOUBLE)"],
            "dec2": [lambda: f"CAST({inner()} + 0.05 AS DECIMAL(12, 2))",
                     lambda: f"abs({inner()})"],
            "str": [lambda: f"upper({inner()})", lambda: f"({inner()} || {inner()})",
                    lambda: f"substr({inner()}, 1, {rng.randint(1, 3)})",
                    lambda: f"CAST({inner('long')} AS VARCHAR)", lambda: self.path(scope),
                    lambda: f"CAST({self.of(scope, 'uuid') or inner()} AS VARCHAR)",
                    lambda: f"replace({inner()}, 'a', 'xy')"],
            "ts": [lambda: f"date_trunc('{rng.choice(['month', 'day', 'year'])}', {inner()})",
                   lambda: f"CAST({inner('date')} AS TIMESTAMP)",
                   lambda: f"({self.lit('date', True)} + INTERVAL '{rng.randint(1, 99)} hours')"],
            "date": [lambda: f"CAST({inner('ts')} AS DATE)"],
            "bool": [lambda: f"({self.pred(scope, 1)})"],
        }
        return rng.choice(general + own.get(kind, []) * 2)()

    def chosen(self, scope, kind, column):
        """One of a column and of a value, which may be plain text."""
        rng, value = self.rng, self.beside(kind)
        pair = ", ".join(rng.sample([column, value], 2))
        return rng.choice([
            f"coalesce({pair})", f"coalesce(NULL, {column}, {value})",
            f"nullif({column}, {value})", f"coalesce(nullif({column}, {value}), {value})",
            f"greatest({pair})", f"least({pair})", f"greatest({pair}, {self.beside(kind)})",
            f"CASE WHEN {self.pred(scope, 1)} THEN {column} ELSE {value} END",
            f"CASE WHEN {self.pred(scope, 1)} THEN {value} ELSE {column} END"])

    def path(self, scope):
        column = self.of(scope, "json")
        step = self.rng.choice(["->>'a'", "->>'b'", "->'c'->>'d'"])
        return f"({column}{step})" if column else self.lit("str")

    # ---- conditions

    def pred(self, scope, depth=2):
        rng = self.rng
        if depth > 0 and rng.random() < 0.45:
            left, right = self.pred(scope, depth - 1), self.pred(scope, depth - 1)
            return rng.choice([f"({left} AND {right})", f"({left} OR {right})", f"(NOT {left})",
                               f"(({left}) IS NOT TRUE)", f"(({left}) IS NULL)",
                               f"({left} AND {right})", f"({left} OR NULL)"])
        kind = rng.choice([kind for _, kind in scope if kind != "json"])
        column = self.of(scope, kind)
        value = self.beside(kind)
        forms = [
            lambda: f"{column} {rng.choice(COMPARISONS)} {value}",
            lambda: f"{column} {rng.choice(COMPARISONS)} {value}",
            lambda: f"{value} {rng.choice(COMPARISONS)} {column}",
            lambda: f"{column} {rng.choice(['', 'NOT '])}BETWEEN {value} AND {self.beside(kind)}",
            lambda: f"{column} {rng.choice(['', 'NOT '])}IN ({self.list(kind)})",
            lambda: f"{column} IS {rng.choice(['', 'NOT '])}NULL",
            lambda: f"{column} IS {rng.choice(['', 'NOT '])}DISTINCT FROM "
                    + rng.choice([value, self.of(scope, kind)]),
            lambda: f"{self.expr(scope, kind)} {rng.choice(COMPARISONS)} {self.expr(scope, kind)}",
            lambda: f"{column} {rng.choice(COMPARISONS)} {rng.choice(['ANY', 'ALL'])} "
                    f"(ARRAY[{self.list(kind, 20)}])",
            lambda: f"{self.chosen(scope, kind, column)} {rng.choice(COMPARISONS)} {value}",
            lambda: f"{column} {rng.choice(['', 'NOT '])}IN "
                    f"({rng.choice(['SELECT', 'VALUES'])} ({value}))",
            lambda: self.mixed(scope),
            lambda: self.span_test(scope),
            lambda: self.text_test(scope),
            lambda: self.subquery_test(scope, kind, column),
        ]
        return "(" + rng.choice(forms)() + ")"

    def span_test(self, scope):
        """The time between two moments beside an interval."""
        rng = self.rng
        column = self.of(scope, "ts")
        if column is None:
            return "TRUE"
        unit = rng.choice(["seconds", "hours", "days", "months", "years"])
        span = f"INTERVAL '{rng.choice([0, 1, 25, 60, 400])} {unit}'"
        day = f"INTERVAL '{rng.choice([1, 24, 720])} {rng.choice(['hours', 'days'])}'"
        other = rng.choice([self.of(scope, "ts"), self.lit("ts", True)])
        between = f"{column} - {other}"
        return rng.choice([
            f"{between} {rng.choice(COMPARISONS)} {span}",
            f"span_{rng.choice(['greatest', 'least'])}({between} | {span}) "
            f"{rng.choice(COMPARISONS)} {day}",
            f"({between}) {rng.choice(['', 'NOT '])}IN ({span}, {day})",
            f"CASE {between} WHEN {span} THEN TRUE WHEN {day} THEN NULL ELSE FALSE END"])

    def list(self, kind, longest=70):
        values = [self.beside(kind) for _ in range(self.rng.choice([1, 2, 3, 5, longest]))]
        if self.rng.random() < 0.15:
            values.append("NULL")
        return ", ".join(values)

    def mixed(self, scope):
        """Numbers of two types."""
        kinds = sorted({kind for _, kind in scope if kind in NUMBERS})
        if not kinds:
            return "TRUE"
        left, other = self.rng.choice(kinds), self.rng.choice(NUMBERS)
        right = self.of(scope, other) if self.rng.random() < 0.5 else None
        right = right or self.lit(other, True)
        return f"{self.of(scope, left)} {self.rng.choice(COMPARISONS)} {right}"

    def text_test(self, scope):
        column = self.of(scope, "str")
        tested = self.path(scope) if column is None or self.rng.random() < 0.4 else column
        pattern = self.rng.choice(["a%", "%b", "_", "%", "a", "", "%a%", "a_", "A%"])
        return self.rng.choice([
            f"{tested} LIKE '{pattern}'", f"{tested} NOT LIKE '{pattern}'",
            f"{tested} = {self.lit('str')}", f"{tested} IN ({self.list('str')})",
            f"{tested} IS NULL", f"{tested} > {self.lit('str')}"])

    def subquery_test(self, scope, kind, column):
        rng = self.rng
        others = [(table, own) for table in self.tables for own, k in table.columns if k == kind]
        if not others:
            return f"{column} IS NOT NULL"
        table, own = rng.choice(others)
        alias, inner = self.scope(table)
        where = rng.choice(["", f" WHERE {self.pred(inner, 0)}",
                            f" WHERE {alias}.{own} = {column}",
                            f" WHERE {alias}.{own} = {column} AND {self.pred(inner, 0)}"])
        source = f"FROM {{{table.name}}} {alias}{where}"
        negated = rng.choice(["", "NOT "])
        forms = [f"{negated}EXISTS (SELECT 1 {source})",
                 f"(SELECT count(*) {source}) > {rng.randint(0, 3)}"]
        # With a further subquery inside, DuckDB calls NULL NOT IN (nothing) NULL. It is true.
        if not (f"= {column} AND" in where and "SELECT" in where):
            forms.append(f"{column} {negated}IN (SELECT {alias}.{own} {source})")
        having = f"HAVING count(*) {rng.choice(COMPARISONS)} {rng.randint(0, 2)}"
        forms += [f"{rng.randint(0, 2)} {negated}IN (SELECT count(*) {source})",
                  f"{negated}EXISTS (SELECT count(*) {source} {rng.choice(['', having])})",
                  f"{rng.randint(0, 2)} {rng.choice(COMPARISONS)} {rng.choice(['ANY', 'ALL'])}"
                  f" (SELECT count(*) {source} {rng.choice(['', having])})",
                  f"(SELECT count({alias}.{own}) {source} {having}) IS {negated}NULL"]
        if f"= {column}" not in where:
            ordered = f"(SELECT {alias}.{own} {source} ORDER BY 1 NULLS LAST LIMIT "
            forms += [f"{ordered}1) IS {negated}NULL", f"{column} {negated}IN {ordered}2)"]
        if kind not in ("bool", "uuid", "bin"):
            function = rng.choice(["min", "max"])
            operator = rng.choice(COMPARISONS)
            forms.append(f"{column} {operator} (SELECT {function}({alias}.{own}) {source})")
            forms.append(f"{column} {negated}IN (SELECT {function}({alias}.{own}) {source}"
                         f" {rng.choice(['', having])})")
        return rng.choice(forms)

    # ---- queries

    def source(self):
        """FROM with one to three tables, and what may be named."""
        rng = self.rng
        table = rng.choice(self.tables)
        alias, scope = self.scope(table)
        text = f"FROM {{{table.name}}} {alias}"
        if rng.random() < 0.08:
            # Values that are given by themselves, beside a column.
            column, kind = rng.choice([one for one in scope if one[1] != "json"])
            listed = ", ".join(f"({self.beside(kind)})" for _ in range(rng.choice([1, 2, 3])))
            given = self.alias()
            text += f" JOIN (VALUES {listed}) AS {given} (g) ON {column} = {given}.g"
        for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
            table = rng.choice(self.tables)
            alias, inner = self.scope(table)
            shared = [(a, b) for a, kind in scope for b, other in inner
                      if kind == other and kind != "json"]
            if not shared or rng.random() < 0.05:
                text += f" CROSS JOIN (SELECT * FROM {{{table.name}}} LIMIT 0) {alias}"
                scope = scope + inner
                continue
            pairs = rng.sample(shared, min(len(shared), rng.choice([1, 1, 2])))
            condition = " AND ".join(f"{a} = {b}" for a, b in pairs)
            if rng.random() < 0.2:
                condition += f" AND {self.pred_without_subquery(scope + inner)}"
            join = rng.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "JOIN", "LEFT JOIN"])
            text += f" {join} {{{table.name}}} {alias} ON {condition}"
            scope = scope + inner
        return text, scope

    def pred_without_subquery(self, scope):
        while True:
            found = self.pred(scope, 0)
            if "SELECT" not in found and "(VALUES" not in found:
                return found

    def direction(self):
        way, nulls = self.rng.choice(["", "DESC "]), self.rng.choice(["FIRST", "LAST"])
        return f"{way}NULLS {nulls}"

    def where(self, scope):
        return f" WHERE {self.pred(scope)}" if self.rng.random() < 0.8 else ""

    def kind(self):
        return self.rng.choice([kind for kind in TYPES if kind not in ("json", "uuid")])

    def query(self):
        return self.rng.choice([self.plain, self.plain, self.plain, self.grouped, self.grouped,
                                self.windowed, self.united, self.common, self.simple,
                                self.joined_by_names])()

    def simple(self):
        """A query of one table that may be read straight from the store."""
        rng = self.rng
        table = rng.choice(self.tables)
        kinds = dict(table.columns)
        told = [column for column, kind in table.columns if kind != "json"]
        tested = [column for column in rng.choice([told, [key for key, _ in table.keys]])
                  if kinds[column] != "bin"]
        tests = []
        for column in rng.sample(tested, min(len(tested), rng.choice([0, 1, 1, 2]))):
            kind = kinds[column]
            tests.append(f"{column} " + rng.choice([
                f"{rng.choice(['=', '<', '<=', '>', '>='])} {self.beside(kind)}",
                f"IN ({self.beside(kind)}, {self.beside(kind)})",
                f"BETWEEN {self.beside(kind)} AND {self.beside(kind)}"]))
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        source = f"FROM {{{table.name}}}{where}"
        if rng.random() < 0.3:
            column = rng.choice(told)
            functions = ["count"] + ["min", "max"] * (kinds[column] not in ("bool", "uuid", "bin"))
            return f"SELECT count(*) AS n, {rng.choice(functions)}({column}) AS o {source}"
        # A name of the answer may be that of another column of the table.
        keys = [key for key, _ in table.keys]
        names = rng.choice([keys, rng.sample(keys, len(keys))])
        listed = ", ".join(f"{key} AS {name}" for key, name in zip(keys, names))
        way = rng.choice(["", " DESC"])
        order = ", ".join(f"{name}{way}" for name in rng.sample(names, len(names)))
        return f"SELECT {listed} {source} ORDER BY {order} LIMIT {rng.randint(0, 5)}"

    def joined_by_names(self):
        """Two sides that have the names of one or two columns in common."""
        rng = self.rng
        tables = [rng.choice(self.tables) for _ in range(2)]
        scopes = [self.scope(table) for table in tables]
        pairs = [(a, b) for a, kind in scopes[0][1] for b, other in scopes[1][1]
                 if kind == other and kind != "json"]
        if not pairs:
            return self.plain()
        pairs = rng.sample(pairs, min(len(pairs), rng.choice([1, 1, 2])))
        names = [f"x{number}" for number in range(len(pairs))]
        sides = []
        for place, (table, (alias, scope)) in enumerate(zip(tables, scopes)):
            shared = ", ".join(f"{pair[place]} AS {name}" for pair, name in zip(pairs, names))
            own = rng.choice([column for column, kind in scope if kind != "json"])
            sides.append(f"(SELECT {shared}, {own} AS y{place} FROM {{{table.name}}} {alias})"
                         f" {'zs'[place]}")
        kind = rng.choice(["", "LEFT ", "RIGHT ", "FULL "])
        join = rng.choice([f"{sides[0]} {kind}JOIN {sides[1]} USING ({', '.join(names)})",
                           f"{sides[0]} NATURAL {kind}JOIN {sides[1]}"])
        if "USING" in join and rng.random() < 0.4:
            where = f" WHERE {names[0]} IS {rng.choice(['', 'NOT '])}NULL"
        else:
            where = rng.choice(["", " WHERE s.x0 IS NULL", " WHERE z.x0 IS NOT NULL"])
        return rng.choice([f"SELECT * FROM {join}{where}",
                           f"SELECT x0, y0, y1, z.x0 AS own FROM {join}{where}",
                           f"SELECT x0, count(*) AS n, count(y1) AS m FROM {join}{where}"
                           " GROUP BY x0"])

    def plain(self):
        rng = self.rng
        source, scope = self.source()
        kinds = [rng.choice([kind for _, kind in scope if kind != "json"])
                 for _ in range(rng.randint(1, 4))]
        items = [self.expr(scope, kind, rng.choice([0, 0, 1, 2])) for kind in kinds]
        listed = ", ".join(f"{item} AS o{n}" for n, item in enumerate(items))
        distinct = rng.choice(["", "", "DISTINCT "])
        text = f"SELECT {distinct}{listed} {source}{self.where(scope)}"
        if rng.random() < 0.4:
            order = ", ".join(f"{n + 1} {self.direction()}" for n in range(len(items)))
            text += f" ORDER BY {order}"
            if rng.random() < 0.7:
                text += f" LIMIT {rng.randint(0, 9)}"
                text += rng.choice(["", f" OFFSET {rng.randint(0, 4)}"])
        return text

    def aggregate(self, scope):
        rng = self.rng
        kind = rng.choice([kind for _, kind in scope if kind != "json"])
        column = self.of(scope, kind)
        forms = ["count(*)", f"count({column})", f"count(DISTINCT {column})"]
        if kind not in ("bool", "uuid", "bin"):
            forms += [f"min({column})", f"max({column})"] * 2
        if kind == "bool":
            forms += [f"bool_and({column})", f"bool_or({column})"]
        if kind in ("int", "long", "dec2", "dec10"):
            forms += [f"sum({column})", f"sum(DISTINCT {column})"]
        if kind == "int":
            # Others cancel each other out, and what is left depends on the order.
            forms += [f"avg(CAST({column} AS DOUBLE))"]
        text = rng.choice(forms)
        if rng.random() < 0.15:
            text += f" FILTER (WHERE {self.pred_without_subquery(scope)})"
        return text

    def grouped(self):
        rng = self.rng
        source, scope = self.source()
        aggregates = [self.aggregate(scope) for _ in range(rng.randint(1, 3))]
        listed = ", ".join(f"{item} AS o{n}" for n, item in enumerate(aggregates))
        where = self.where(scope)
        if rng.random() < 0.35:
            return f"SELECT {listed} {source}{where}"
        kinds = [rng.choice([kind for _, kind in scope if kind != "json"])
                 for _ in range(rng.choice([1, 1, 2]))]
        keys = [self.expr(scope, kind, rng.choice([0, 0, 0, 1])) for kind in kinds]
        # A literal in GROUP BY would be the number of an item.
        # Two that differ by a cast alone would have one name.
        keys = [key for key in keys if "CAST" not in key or len(keys) == 1]
        keys = [key for key in keys if re.search(r"a\d+\.", key) and "SELECT" not in key]
        if not keys:
            return f"SELECT {listed} {source}{where}"
        named = ", ".join(f"{key} AS g{n}" for n, key in enumerate(keys))
        text = f"SELECT {named}, {listed} {source}{where} GROUP BY {', '.join(keys)}"
        if rng.random() < 0.3:
            text += f" HAVING count(*) {rng.choice(COMPARISONS)} {rng.randint(0, 3)}"
        return text

    def windowed(self):
        rng = self.rng
        table = rng.choice(self.tables)
        alias, scope = self.scope(table)
        key = ", ".join(f"{alias}.{column}" for column, _ in table.keys)
        scope = [(column, kind) for column, kind in scope if kind != "json"]
        part, other = rng.choice(scope), rng.choice(scope)
        # A RANGE of these is refused.
        ordered = rng.choice([one for one in scope if one[1] not in ("uuid", "bin", "time")]
                             or [("1", "int")])
        numbers = [column for column, kind in scope if kind in ("int", "dec2")] or ["1"]
        by = f"PARTITION BY {part[0]} " if rng.random() < 0.6 else ""
        order = f"ORDER BY {ordered[0]} {self.direction()}"
        frame = rng.choice(["", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                            " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"])
        groups = rng.choice(["GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
                             "GROUPS BETWEEN CURRENT ROW AND 2 FOLLOWING",
                             "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"])
        call = rng.choice([
            f"row_number() OVER ({by}{order}, {key})", f"rank() OVER ({by}{order})",
            f"dense_rank() OVER ({by}{order})", f"count(*) OVER ({by})",
            f"count({other[0]}) OVER ({by}{order})",
            f"sum({rng.choice(numbers)}) OVER ({by}{order}, {key}{frame})",
            f"lag({other[0]}) OVER ({by}{order}, {key})",
            f"{rng.choice(['lag', 'lead'])}({other[0]}, {rng.randint(-3, 3)})"
            f"{rng.choice(['', ' IGNORE NULLS'])} OVER ({by}{order}, {key})",
            f"lag({other[0]}) OVER (ORDER BY {key.replace(',', ' DESC,')} DESC)",
            f"lead({other[0]}, 2) OVER ({by}{order}, {key})",
            f"lead({other[0]}, {rng.randint(1, 3)}) IGNORE NULLS OVER ({by}{order}, {key})",
            f"lag({other[0]}, {rng.randint(1, 3)}) IGNORE NULLS OVER ({by}{order}, {key})",
            f"sum({rng.choice(numbers)}) OVER ({by}{order} {groups})",
            f"count({other[0]}) OVER ({by}{order} {groups})",
            f"first_value({other[0]}) OVER ({by}{order}, {key}{frame})",
            f"last_value({other[0]}) OVER ({by}{order}, {key}{frame})"])
        text = f"SELECT {key}, {call} AS w FROM {{{table.name}}} {alias}{self.where(scope)}"
        if rng.random() < 0.4:
            text += f" ORDER BY {key} LIMIT {rng.randint(1, 5)}"
        return text

    def united(self):
        rng = self.rng
        kinds = [self.kind() for _ in range(rng.randint(1, 2))]
        parts = []
        for _ in range(rng.choice([2, 2, 3])):
            source, scope = self.source()
            items = [f"{self.expr(scope, kind, 1)} AS o{n}" for n, kind in enumerate(kinds)]
            items = ", ".join(items)
            parts.append(f"(SELECT {items} {source}{self.where(scope)})")
        operators = ["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]
        text = parts[0]
        for part in parts[1:]:
            text = f"({text} {rng.choice(operators)} {part})"
        return f"SELECT * FROM {text} z"

    def common(self):
        """A query over a query."""
        rng = self.rng
        source, scope = self.source()
        kinds = [rng.choice([kind for _, kind in scope if kind != "json"]) for _ in range(3)]
        items = ", ".join(f"{self.expr(scope, kind, 1)} AS o{n}" for n, kind in enumerate(kinds))
        inner = [(f"z.o{n}", kind) for n, kind in enumerate(kinds)]
        head = f"WITH z AS (SELECT {items} {source}{self.where(scope)}) "
        where = f" WHERE {self.pred(inner, 1)}"
        if rng.random() < 0.4:
            return head + f"SELECT count(*) AS n, count(DISTINCT z.o0) AS d FROM z{where}"
        if rng.random() < 0.5:
            return head + f"SELECT z.o0, y.o1 FROM z JOIN z y ON z.o2 = y.o2{where}"
        return head + f"SELECT * FROM z{where}"

    # ---- changes

    def rows(self, table, count, conflicts):
        """Rows whose keys are given once; `conflicts` says whether they may exist."""
        rows, seen = [], set()
        for _ in range(count * 3):
            key = tuple(pick(self.rng, kind) if kind not in ("int", "long") or conflicts
                        else self.rng.randint(-9, 99) for _, kind in table.keys)
            told = tuple("0.0" if value == "-0.0" else value for value in key)
            if told in seen or len(rows) == count:
                continue
            seen.add(told)
            cells = [f"«{kind}:{value}»" for (_, kind), value in zip(table.keys, key)]
            for _, kind in table.plain:
                cells.append("NULL" if self.rng.random() < 0.15 else self.beside(kind))
            rows.append(f"({', '.join(cells)})")
        return ", ".join(rows)

    def filling(self, table, count):
        return f"UPSERT INTO {{{table.name}}} VALUES {self.rows(table, count, False)}"

    def meeting(self, table):
        """Rows of which those that exist are changed."""
        rng = self.rng
        sets = []
        for column, kind in rng.sample(table.plain, min(len(table.plain), rng.choice([1, 1, 2]))):
            own, other = f"{{{table.name}}}.{column}", f"EXCLUDED.{column}"
            value = rng.choice([other, f"coalesce({own}, {other})", own]
                               + [f"{own} + {other}"] * (kind == "double"))
            sets.append(f"{column} = {value if kind != 'json' else other}")
        keys = ", ".join(column for column, _ in table.keys)
        column, _ = rng.choice([one for one in table.plain if one[1] != "json"] or table.keys)
        where = f" WHERE {{{table.name}}}.{column} IS DISTINCT FROM EXCLUDED.{column}"
        return (f"INSERT INTO {{{table.name}}} VALUES {self.rows(table, rng.randint(1, 5), True)}"
                f" ON CONFLICT ({keys}) DO UPDATE SET {', '.join(sets)}"
                + rng.choice(["", where]))

    def change(self):
        rng = self.rng
        table = rng.choice(self.tables)
        name = f"{{{table.name}}}"
        # A name alone might be one of a table of a subquery.
        bare = [(f"{name}.{column}", kind) for column, kind in table.columns]
        sets = []
        for column, kind in rng.sample(table.plain, min(len(table.plain), rng.choice([1, 1, 2]))):
            value = "NULL" if rng.random() < 0.1 else (
                self.lit(kind) if kind == "json" else self.expr(bare, kind, rng.choice([0, 1, 2])))
            sets.append(f"{column} = {value}")
        forms = [
            lambda: f"INSERT INTO {name} VALUES {self.rows(table, rng.randint(1, 3), False)}",
            lambda: f"UPSERT INTO {name} VALUES {self.rows(table, rng.randint(1, 5), True)}",
            lambda: f"INSERT INTO {name} VALUES {self.rows(table, rng.randint(1, 5), True)}"
                    " ON CONFLICT DO NOTHING",
            # Of a key that is given twice the first row is stored.
            lambda: f"INSERT INTO {name} VALUES {self.rows(table, rng.randint(1, 4), True)}, "
                    f"{self.rows(table, rng.randint(1, 4), True)} ON CONFLICT DO NOTHING",
            lambda: self.meeting(table),
            lambda: f"UPDATE {name} SET {', '.join(sets)} WHERE {self.pred(bare, 1)}",
            lambda: f"UPDATE {name} SET {', '.join(sets)} WHERE {self.pred(bare, 1)}",
            lambda: f"DELETE FROM {name} WHERE {self.pred(bare, 0)} AND {self.pred(bare, 1)}",
        ]
        made = rng.choice(forms)()
        told = [column for column, kind in table.columns if kind != "json"]
        if "UPSERT" not in made and rng.random() < 0.3:
            made += f" RETURNING {', '.join(rng.sample(told, rng.randint(1, len(told))))}"
        return made
