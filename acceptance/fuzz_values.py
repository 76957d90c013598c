"""Values and literals of the differential fuzzer, for Tonnage and for DuckDB."""

import base64
import datetime
import decimal
import math

# What a type is called in Tonnage and in DuckDB.
TYPES = {
    "int": ("INTEGER", "INTEGER"),
    "long": ("LONG", "BIGINT"),
    "float": ("FLOAT", "FLOAT"),
    "double": ("DOUBLE", "DOUBLE"),
    "dec2": ("NUMBER(12, 2)", "DECIMAL(12, 2)"),
    "dec10": ("NUMBER(30, 10)", "DECIMAL(30, 10)"),
    "str": ("STRING", "VARCHAR"),
    "bool": ("BOOLEAN", "BOOLEAN"),
    "ts": ("TIMESTAMP(6)", "TIMESTAMP"),
    "date": ("DATE", "DATE"),
    "time": ("TIME", "TIME"),
    "uuid": ("UUID", "UUID"),
    "bin": ("BINARY", "BLOB"),
    "json": ("JSON", "JSON"),
}

# Before a type: its values stand as plain text beside a value of that type.
TEXT = "text_"

COMMON = {
    "int": [-3, -1, 0, 1, 2, 3, 4, 5, 7],
    "long": [-2, 0, 1, 2, 3, 4, 5, 6, 8],
    "float": ["0.0", "0.5", "1.0", "2.5", "-1.5", "0.25"],
    "double": ["0.0", "0.5", "1.0", "2.5", "-1.5", "0.1", "3.0"],
    "dec2": ["0.00", "1.10", "-0.01", "99999.99", "100.00", "0.50", "2.00"],
    "dec10": ["0.0000000001", "1.5", "-1.5", "12345678901234567890.0123456789", "2.0", "0.1"],
    "str": ["", "a", "b", "ab", "A", "a%", "ä", "ab c", "_b", "10", "NULL", "it''s"],
    "bool": ["TRUE", "FALSE"],
    "ts": ["2020-02-29 12:34:56.789", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999",
           "2021-12-31 23:59:59", "2020-03-01 00:00:00"],
    "date": ["2020-02-29", "1970-01-01", "1969-12-31", "2021-12-31", "2020-03-01"],
    "time": ["00:00:00", "12:34:56.789", "23:59:59.999999", "06:00:00"],
    "uuid": ["00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff",
             "7fffffff-0000-4000-8000-00000000000a", "80000000-0000-4000-8000-00000000000b"],
    "bin": ["00", "00ff", "ff", "", "61", "6162"],
    "json": ['{"a": 1, "b": "x"}', '{"a": 2, "b": "y", "c": {"d": "a"}}', '{"a": null}', "{}",
             '{"b": "a%", "c": {"d": null}}', '{"a": 2.5, "c": {"d": "ab"}}', '{"a": true}'],
}

RARE = {
    "int": [2147483647, -2147483648],
    "long": [9223372036854775807, -9223372036854775807, 9007199254740993],
    "float": ["NaN", "inf", "-inf", "-0.0", "1e30"],
    "double": ["NaN", "inf", "-inf", "-0.0", "1e300", "9007199254740992.0"],
    "dec2": ["9999999999.99", "-9999999999.99"],
    "dec10": ["-12345678901234567890.0123456789"],
    "str": ["zzzzzzzzzzzzzzzzzzzzzzzz", "日本"],
    "ts": ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1677-09-21 00:12:43",
           "2262-04-11 23:47:17", "1600-06-15 01:02:03.000004"],
    "date": ["0001-01-01", "9999-12-31", "1677-09-20", "2262-04-12"],
}


def pick(rng, kind, plain=False):
    """A value of a type, most often a common one."""
    if not plain and kind in RARE and rng.random() < 0.15:
        return rng.choice(RARE[kind])
    return rng.choice(COMMON[kind])


def as_text(kind, value):
    return f"\\x{value}" if kind == "bin" else value


def literal(kind, value, duck):
    """A value as it is written in a statement."""
    if value is None:
        return "NULL"
    if kind.startswith(TEXT):
        # Tonnage reads text beside a value of another type as that type; DuckDB is given the type. A
        # number alone would be a DOUBLE there, which differs from the FLOAT of the same digits.
        kind = kind.removeprefix(TEXT)
        if duck and kind == "float":
            return f"CAST('{value}' AS FLOAT)"
        return literal(kind, value, True) if duck else f"'{as_text(kind, value)}'"
    if kind in ("int", "long"):
        return str(value)
    if kind in ("float", "double"):
        if value in ("NaN", "inf", "-inf"):
            return f"CAST('{value}' AS {kind.upper()})"
        # DuckDB reads a sign before a decimal, which has no -0.
        return "CAST('-0.0' AS DOUBLE)" if value == "-0.0" else value
    if kind in ("dec2", "dec10", "bool"):
        return value
    if kind == "ts":
        return f"TIMESTAMP '{value}'"
    if kind == "date":
        return f"DATE '{value}'"
    if kind == "time":
        return f"TIME '{value}'"
    if kind == "uuid":
        return f"CAST('{value}' AS UUID)" if duck else f"'{value}'"
    if kind == "bin":
        return f"from_hex('{value}')" if duck else f"X'{value}'"
    return f"'{value}'"


def from_duck(value):
    """A value of DuckDB in the form that is compared."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, (int, decimal.Decimal)):
        return decimal.Decimal(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime.timedelta):
        return str(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    return str(value)


def number(value):
    return "nan" if math.isnan(value) else 0.0 if value == 0 else value


def from_tonnage(value, kind):
    """A value of an answer in JSON in the form that is compared."""
    if value is None or isinstance(value, bool):
        return value
    if kind in ("DOUBLE", "FLOAT"):
        return number(float(value))
    if kind in ("INTEGER", "LONG") or kind.startswith("NUMBER"):
        return decimal.Decimal(str(value))
    if kind.startswith("TIMESTAMP"):
        return datetime.datetime.fromisoformat(value).isoformat()
    if kind == "TIME":
        return datetime.time.fromisoformat(value[:15]).isoformat()
    if kind.startswith("BINARY"):
        return base64.b64decode(value).hex()
    if isinstance(value, (int, float)):
        return decimal.Decimal(str(value))
    return value if isinstance(value, str) else str(value)


def same(one, two):
    """Whether two values are one; sums of doubles depend on their order."""
    if isinstance(one, (float, decimal.Decimal)) and isinstance(two, (float, decimal.Decimal)):
        if isinstance(one, decimal.Decimal) and isinstance(two, decimal.Decimal):
            return one == two
        one, two = float(one), float(two)
        return one == two or math.isclose(one, two, rel_tol=2e-6, abs_tol=1e-12)
    return type(one) is type(two) and one == two


def order(row):
    """What rows are sorted by before they are compared."""
    def key(value):
        if value is None:
            return (0, 0.0, "")
        if isinstance(value, bool):
            return (1, float(value), "")
        if isinstance(value, (float, decimal.Decimal)):
            digits = 5 if isinstance(value, float) else 15
            return (2, float(f"{float(value):.{digits}g}"), "")
        return (3, 0.0, str(value))
    # Whole numbers of 16 digits and more are as good as equal by the first 15.
    exact = [value if isinstance(value, decimal.Decimal) else 0 for value in row]
    return [key(value) for value in row] + exact


def equal(left, right):
    """Whether two lists of rows hold the same rows, in whatever order."""
    if len(left) != len(right):
        return False
    left, right = sorted(left, key=order), sorted(right, key=order)
    return all(len(a) == len(b) and all(map(same, a, b)) for a, b in zip(left, right))
