"""Statements for tables without a primary key, in words that a store with keys takes.

- A table without a key gets one behind its columns: a hidden identity.
- A query with `*` reads such a table through a subquery that leaves the identity out.
- CREATE TABLE AS asks for the columns of its query first. Then it makes the table and inserts.
- TEMP is left out, and CREATE OR REPLACE TABLE drops the table first.
- Types are called by the names that the store knows.
"""

import re

import pyarrow as pa

from sql_tokens import closing, joined, solid, spaced, split, statements, tokens
from sqllogictest import Refused

KEY = "rowid_"
IDENTITY = f"{KEY} LONG GENERATED ALWAYS AS IDENTITY (CACHE 1000), PRIMARY KEY ({KEY})"

# What ends the tables of FROM.
ENDS = set("""SELECT WHERE GROUP ORDER HAVING WINDOW LIMIT OFFSET QUALIFY UNION INTERSECT EXCEPT SET
    RETURNING WHEN VALUES FETCH""".split())
# Functions whose arguments have a FROM of their own.
TAKING_FROM = set("EXTRACT TRIM SUBSTRING OVERLAY POSITION".split())
# What stands behind a table without being its alias.
NO_ALIAS = ENDS | set("""JOIN INNER LEFT RIGHT FULL CROSS NATURAL ASOF SEMI ANTI POSITIONAL LATERAL
    ON USING PIVOT UNPIVOT TABLESAMPLE""".split())
CONSTRAINTS = set("PRIMARY UNIQUE CHECK FOREIGN CONSTRAINT".split())


class Adapter:
    def __init__(self, connection, types):
        self.connection, self.types = connection, types
        # The columns of tables with a hidden key, as they are written.
        self.hidden = {}

    def run(self, sql):
        """Carries out a text. Gives what the last statement gave: see `Connection.table`."""
        answer = None
        for statement in statements(sql):
            answer = self.statement(statement)
        return answer

    def statement(self, sql):
        parts = tokens(sql)
        words = [part.word or part.text for part in solid(parts)[:8]]
        first = words[0] if words else ""
        if first == "CREATE" and "TABLE" in words[:5] and "EXTERNAL" not in words:
            return self.create(parts)
        if first in ("ALTER", "DROP", "TRUNCATE"):
            return self.define(parts, words)
        if first == "CREATE" and "VIEW" in words[:5]:
            parts = [part for part in parts if part.word not in ("TEMP", "TEMPORARY")]
        if first in ("INSERT", "UPDATE", "DELETE", "MERGE", "UPSERT", "REPLACE"):
            parts = self.returning(parts)
        return self.connection.table(joined(self.query(parts)))

    # Definitions.

    def create(self, parts):
        parts = solid(parts)
        at = next(n for n, part in enumerate(parts) if part.word == "TABLE")
        head = {part.word for part in parts[:at]}
        if_not = parts[at + 1].word == "IF"
        at += 4 if if_not else 1
        if at >= len(parts) or parts[at].name is None:
            return self.connection.table(spaced(parts))
        start = at
        while at + 2 < len(parts) and parts[at + 1].text == ".":
            at += 2
        table = joined(parts[start:at + 1])
        name = parts[at].name
        declared, rest = None, parts[at + 1:]
        if rest and rest[0].text == "(":
            end = closing(rest, 0)
            declared, rest = split(rest[1:end], ","), rest[end + 1:]
            declared = [column for column in declared if column]
        query = None
        if rest and rest[0].word == "AS":
            query = rest[1:]
            if query and query[0].text == "(" and closing(query, 0) == len(query) - 1:
                query = query[1:-1]
        elif rest:
            # Something that the store has to say itself.
            return self.connection.table(spaced(parts))
        if "REPLACE" in head:
            self.connection.table(f"DROP TABLE IF EXISTS {table}")
        made = f"CREATE TABLE {'IF NOT EXISTS ' if if_not else ''}{table}"
        if query is None:
            return self.create_plain(made, name, declared or [])
        return self.create_filled(made, table, name, declared, query)

    def create_plain(self, made, name, declared):
        texts = [self.column(column) for column in declared]
        if any("PRIMARY" in [part.word for part in column] for column in declared):
            answer = self.connection.table(f"{made} ({', '.join(texts)})")
            self.hidden.pop(name, None)
            return answer
        answer = self.connection.table(f"{made} ({', '.join(texts + [IDENTITY])})")
        self.hidden[name] = [column[0].text for column in declared
                             if column[0].word not in CONSTRAINTS]
        return answer

    def create_filled(self, made, table, name, declared, query):
        text = spaced(self.query(query))
        plain = [column for column in declared or [] if column[0].word not in CONSTRAINTS]
        extra = [spaced(column) for column in declared or [] if column[0].word in CONSTRAINTS]
        if plain and all(len(column) > 1 for column in plain):
            columns = [(column[0].text, self.column(column)) for column in plain]
        else:
            if query[0].word in ("EXECUTE", "SHOW", "DESCRIBE"):
                raise Refused(f"CREATE TABLE AS {query[0].word}")
            schema = self.connection.table(f"SELECT * FROM ({text}) AS q_ LIMIT 0").schema
            names = [column[0].text for column in plain]
            names += ['"' + field.name.replace('"', '""') + '"' for field in schema][len(names):]
            columns = [(one, f"{one} {column_type(field)}") for one, field in zip(names, schema)]
        texts = [told for _, told in columns] + extra
        if any("PRIMARY KEY" in told.upper() for told in texts):
            self.connection.table(f"{made} ({', '.join(texts)})")
            self.hidden.pop(name, None)
        else:
            self.connection.table(f"{made} ({', '.join(texts + [IDENTITY])})")
            self.hidden[name] = [one for one, _ in columns]
        names = ", ".join(one for one, _ in columns)
        try:
            return self.connection.table(f"INSERT INTO {table} ({names}) {text}")
        except Refused:
            # No table is there where its rows could not be stored.
            self.hidden.pop(name, None)
            self.connection.table(f"DROP TABLE {table}")
            raise

    def column(self, column):
        """A column with its type in the store's words."""
        if column[0].word in CONSTRAINTS or len(column) == 1:
            return spaced(column)
        return column[0].text + " " + self.types(column[1:])

    def define(self, parts, words):
        sql = joined(parts)
        if words[0] == "ALTER" and "TABLE" in words:
            found = re.match(r"(.*?\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?)(.*)$", sql,
                             re.I | re.S)
            if found:
                added = solid(tokens(found[2]))
                if added and added[0].word not in CONSTRAINTS:
                    sql = found[1] + self.column(added)
        answer = self.connection.table(sql)
        name = altered(sql)
        if words[0] == "DROP" and "TABLE" in words:
            self.hidden.pop(name, None)
        elif words[0] == "ALTER" and name in self.hidden:
            self.alter(sql, self.hidden[name])
        return answer

    def alter(self, sql, columns):
        """Keeps the list of columns up to date."""
        word = r'("[^"]+"|\w+)'
        added = re.search(rf"\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?{word}", sql, re.I)
        dropped = re.search(rf"\bDROP\s+(?:COLUMN\s+)?(?:IF\s+EXISTS\s+)?{word}", sql, re.I)
        renamed = re.search(rf"\bRENAME\s+(?:COLUMN\s+)?{word}\s+TO\s+{word}", sql, re.I)
        if renamed:
            columns[:] = [renamed[2] if one.lower() == renamed[1].lower() else one
                          for one in columns]
        elif re.search(r"\bALTER\s+(COLUMN\s+)?\w+\s+(SET|DROP|TYPE)", sql, re.I):
            pass
        elif added and added[1].lower() not in [one.lower() for one in columns]:
            columns.append(added[1])
        elif dropped:
            columns[:] = [one for one in columns if one.lower() != dropped[1].lower()]

    # Queries.

    def returning(self, parts):
        """RETURNING * of a table with a hidden key names its columns."""
        words = [part.word for part in parts]
        if "RETURNING" not in words:
            return parts
        at = words.index("RETURNING")
        columns = self.hidden.get(altered(joined(parts)))
        if columns:
            for part in parts[at:]:
                if part.text == "*":
                    part.text = ", ".join(columns)
                    break
        return parts

    def query(self, parts):
        """The same tokens, where tables with a hidden key are read without it."""
        if not self.hidden or not takes_all(parts):
            return parts
        names = given(parts)
        states, expects, before = [""], False, []
        changed = parts[0:0]
        for at, part in enumerate(parts):
            if part.kind == "blank":
                changed.append(part)
                continue
            last = before[-1] if before else None
            text = part.text
            if expects and text != "(" and part.word not in ("LATERAL", "ONLY"):
                expects = False
                following = next((one for one in parts[at + 1:] if one.kind != "blank"), None)
                is_table = following is None or following.text not in (".", "(")
                if part.name in self.hidden and part.name not in names and is_table:
                    changed += self.subquery(part, following)
                    before.append(part)
                    continue
            if text == "(":
                takes = last is not None and last.word in TAKING_FROM
                states.append("taking" if takes else "")
            elif text == ")" and len(states) > 1:
                states.pop()
            elif part.word == "FROM" and states[-1] != "taking":
                if not (last and last.word in ("DISTINCT", "DELETE")):
                    states[-1], expects = "from", True
            elif part.word == "JOIN":
                states[-1], expects = "from", True
            elif part.word in ("TABLE", "SUMMARIZE", "DESCRIBE") and last is None:
                expects = True
            elif part.word in ("PIVOT", "UNPIVOT"):
                following = next((one for one in parts[at + 1:] if one.kind != "blank"), None)
                expects = following is not None and following.text != "("
            elif text == "," and states[-1] == "from":
                expects = True
            elif part.word in ENDS:
                states[-1] = ""
            before.append(part)
            changed.append(part)
        return changed

    def subquery(self, part, following):
        columns = ", ".join(self.hidden[part.name])
        has_alias = following is not None and (
            following.word == "AS" or (following.kind in ("word", "quoted")
                                       and following.word not in NO_ALIAS))
        alias = "" if has_alias else f" AS {part.text}"
        return tokens(f"(SELECT {columns} FROM {part.text}){alias}")


def takes_all(parts):
    """Whether a query asks for all columns of something."""
    whole = solid(parts)
    words = [part.word for part in whole]
    if not words:
        return False
    # `FROM t` without SELECT, TABLE t, and joins by all names that are equal.
    if words[0] in ("FROM", "TABLE", "SUMMARIZE", "DESCRIBE", "PIVOT", "UNPIVOT"):
        return True
    if {"NATURAL", "COLUMNS", "PIVOT", "UNPIVOT"} & set(words):
        return True
    for at, part in enumerate(whole):
        if part.text == "(" and at + 1 < len(whole) and words[at + 1] in ("FROM", "TABLE"):
            return True
        if part.text != "*" or part.kind != "sign" or at == 0:
            continue
        before, after = whole[at - 1], whole[at + 1] if at + 1 < len(whole) else None
        if before.text == "(" and after is not None and after.text == ")":
            if words[at - 2] == "COUNT":
                continue
            return True
        if before.word in ("SELECT", "ALL", "DISTINCT") or before.text in (",", ".", "("):
            return True
        if after is None or after.text in (",", ")") or after.word in (
                "FROM", "EXCLUDE", "EXCEPT", "REPLACE"):
            return True
    return False


def given(parts):
    """The names that WITH gives."""
    if not any(part.word == "WITH" for part in parts):
        return set()
    found = re.findall(r'("[^"]+"|\w+)\s*(?:\([^()]*\))?\s*(?:USING\s+KEY\s*\([^()]*\))?\s+AS\s+'
                       r'(?:NOT\s+)?(?:MATERIALIZED\s*)?\(', joined(parts), re.I)
    return {name.strip('"').lower() for name in found}


def altered(sql):
    """The table, view or the like that a statement changes, in lower case, or None."""
    found = re.match(r"""\s*(?:WITH\b.*?\)\s*)?(?:
        INSERT\s+(?:OR\s+\w+\s+)?INTO | UPSERT\s+INTO | REPLACE\s+INTO | UPDATE | MERGE\s+INTO
      | DELETE\s+FROM | TRUNCATE(?:\s+TABLE)? | PREPARE | DEALLOCATE
      | (?:ALTER|DROP)\s+(?:MATERIALIZED\s+)?(?:MACRO\s+TABLE|\w+)(?:\s+IF\s+EXISTS)?
      | CREATE\s+(?:OR\s+REPLACE\s+)?(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|RECURSIVE|UNBOUNDED|EXTERNAL
            |PERSISTENT|UNIQUE|MATERIALIZED|UNLOGGED)\s+)*
        (?:TABLE|VIEW|TYPE|MACRO|FUNCTION|SEQUENCE|SCHEMA|INDEX|DATABASE)
        (?:\s+IF\s+NOT\s+EXISTS)?
      )\s+((?:"[^"]+"|\w+)(?:\s*\.\s*(?:"[^"]+"|\w+))*)""", sql, re.I | re.X | re.S)
    if not found:
        return None
    return found[1].split(".")[-1].strip().strip('"').lower()


def column_type(field):
    """The store's type for a column of an answer."""
    kind = field.type
    if isinstance(kind, pa.BaseExtensionType):
        if "uuid" in kind.extension_name:
            return "UUID"
        if "json" in kind.extension_name:
            return "JSON"
        kind = kind.storage_type
    metadata = field.metadata or {}
    if any(b"json" in value.lower() for value in metadata.values()):
        return "JSON"
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    for is_kind, name in [
            (pa.types.is_boolean, "BOOLEAN"), (pa.types.is_int64, "LONG"),
            (pa.types.is_uint32, "LONG"), (pa.types.is_uint64, "NUMBER(20, 0)"),
            (pa.types.is_integer, "INTEGER"), (pa.types.is_float64, "DOUBLE"),
            (pa.types.is_floating, "FLOAT"), (pa.types.is_null, "INTEGER"),
            (pa.types.is_string, "STRING"), (pa.types.is_large_string, "STRING"),
            (pa.types.is_string_view, "STRING"), (pa.types.is_binary, "BINARY"),
            (pa.types.is_large_binary, "BINARY"), (pa.types.is_binary_view, "BINARY"),
            (pa.types.is_date, "DATE"), (pa.types.is_time, "TIME")]:
        if is_kind(kind):
            return name
    if pa.types.is_decimal(kind):
        return f"NUMBER({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return f"TIMESTAMP({dict(s=0, ms=3, us=6, ns=9)[kind.unit]})"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return f"ARRAY({column_type(kind.value_field)})"
    if pa.types.is_struct(kind):
        fields = [f'"{one.name}" {column_type(one)}' for one in kind]
        return f"RECORD({', '.join(fields)})"
    if pa.types.is_map(kind) and column_type(kind.key_field) == "STRING":
        return f"MAP({column_type(kind.item_field)})"
    raise Refused(f"CREATE TABLE AS: no column has the type {kind}")
