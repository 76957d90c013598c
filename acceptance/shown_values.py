"""Values of an Arrow table as text, and whether a text of a file means the same value.

Files write values in many ways: `true` or `1`, `2020-01-01T00:00:00` or `2020-01-01 00:00:00`,
`{'a': 1}` or `{a: 1}`. So a value is compared by its kind:

- numbers by value, doubles within 1e-9 and floats within 1e-6 of each other, and within the last of
  three or more digits that a file writes behind the point;
- moments and intervals by what they say;
- lists, records and maps part by part;
- documents as documents, and other text letter by letter.
"""

import decimal
import json
import math
import re

import pyarrow as pa

NULL = "NULL"
DOUBLE = "1e-9"


class Cell:
    """A value as text, with its kind."""

    __slots__ = ("kind", "text")

    def __init__(self, kind, text):
        self.kind, self.text = kind, text

    def __repr__(self):
        return self.text


def rows_of(table):
    columns = [cells(column) for column in table.columns]
    return [list(row) for row in zip(*columns)] if columns else []


def cells(column):
    """The values of a column."""
    pieces = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [cell for piece in pieces for cell in array_cells(piece)]


def array_cells(array, inside=False):
    """The values of an array, by itself or inside of another value."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        if "uuid" in kind.extension_name:
            return [null() if one is None else Cell("text", str(one)) for one in array.to_pylist()]
        return array_cells(array.storage, inside)
    if pa.types.is_dictionary(kind):
        return array_cells(array.dictionary_decode(), inside)
    if pa.types.is_null(kind):
        return [null()] * len(array)
    name, show = plain(kind)
    if show:
        values = array
        if pa.types.is_timestamp(kind) or pa.types.is_time64(kind) or pa.types.is_duration(kind):
            values = array.cast(pa.int64())
        elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
            values = array.cast(pa.int32())
        elif pa.types.is_date64(kind):
            values = array.cast(pa.int64())
        if inside and name == "text":
            show = str
        return [null() if one is None else Cell(name, show(one)) for one in values.to_pylist()]
    if pa.types.is_struct(kind):
        fields = [array_cells(array.field(n), True) for n in range(kind.num_fields)]
        names = [kind.field(n).name for n in range(kind.num_fields)]
        valid = array.is_valid().to_pylist()
        return [Cell("nested", "{" + ", ".join(
            f"{name}: {field[row].text}" for name, field in zip(names, fields)) + "}")
            if valid[row] else null() for row in range(len(array))]
    return [nested(array[row]) for row in range(len(array))]


def nested(scalar):
    if not scalar.is_valid:
        return null()
    if pa.types.is_map(scalar.type):
        pairs = scalar.values
        keys, items = array_cells(pairs.field(0), True), array_cells(pairs.field(1), True)
        return Cell("nested", "{" + ", ".join(
            f"{key.text}: {item.text}" for key, item in zip(keys, items)) + "}")
    if hasattr(scalar, "values"):
        items = array_cells(scalar.values, True)
        return Cell("nested", "[" + ", ".join(one.text for one in items) + "]")
    return Cell("text", str(scalar.as_py()))


def null():
    return Cell("null", NULL)


def plain(kind):
    """The name of a type's kind, and the function that shows a value."""
    types = pa.types
    if types.is_boolean(kind):
        return "bool", lambda one: "true" if one else "false"
    if types.is_integer(kind):
        return "int", str
    if types.is_float64(kind):
        return "double", double
    if types.is_floating(kind):
        return "float", lambda one: double(one) if math.isnan(one) else shortest(one)
    if types.is_decimal(kind):
        return "decimal", lambda one: format(one, "f")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text", lambda one: one.replace("\0", "\\0") or "(empty)"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind) \
            or types.is_binary_view(kind):
        return "binary", lambda one: one.hex()
    if types.is_timestamp(kind):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
        return "moment", lambda one: moment(one, digits)
    if types.is_date32(kind):
        return "date", day
    if types.is_date64(kind):
        return "date", lambda one: day(one // 86_400_000)
    if types.is_time(kind):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
        return "time", lambda one: clock(one, digits)
    if types.is_interval(kind):
        return "interval", lambda one: interval(one.months, one.days, one.nanoseconds)
    if types.is_duration(kind):
        scale = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[kind.unit]
        return "duration", lambda one: interval(0, 0, one * scale)
    return None, None


def double(value):
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def shortest(value):
    """A float of 32 bits in as few digits as tell it from others."""
    if math.isinf(value):
        return double(value)
    single = pa.scalar(value, pa.float32()).as_py()
    for digits in range(1, 10):
        text = f"{single:.{digits}g}"
        if pa.scalar(float(text), pa.float32()).as_py() == single:
            return repr(float(text))
    return repr(single)


def day(days):
    """A day of the proleptic Gregorian calendar."""
    days += 719_468
    era, of_era = divmod(days, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    date = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year += era * 400 + (month <= 2)
    if year <= 0:
        return f"{1 - year:04}-{month:02}-{date:02} (BC)"
    return f"{year:04}-{month:02}-{date:02}"


def clock(value, digits):
    seconds, rest = divmod(value, 10**digits)
    fraction = f"{rest:0{digits}}".rstrip("0") if digits else ""
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text + ("." + fraction if fraction else "")


def moment(value, digits):
    days, rest = divmod(value, 86_400 * 10**digits)
    date, _, era = day(days).partition(" ")
    return f"{date} {clock(rest, digits)}" + (f" {era}" if era else "")


def interval(months, days, nanos):
    """As DuckDB writes it."""
    sign = -1 if months < 0 else 1
    years, months = sign * (abs(months) // 12), sign * (abs(months) % 12)
    parts = [f"{count} {unit}{'' if abs(count) == 1 else 's'}"
             for count, unit in ((years, "year"), (months, "month"), (days, "day")) if count]
    if nanos or not parts:
        parts.append(("-" if nanos < 0 else "") + clock(abs(nanos), 9))
    return " ".join(parts)


def binary_text(hexadecimal):
    """Bytes as DuckDB writes them."""
    return "".join(chr(one) if 32 <= one < 127 and one not in b"\\'\"" else f"\\x{one:02X}"
                   for one in bytes.fromhex(hexadecimal)) or "(empty)"


# Comparisons.


def alike(cell, expected):
    """Whether a text of a file means a value."""
    if cell.text == expected or expected == "<slt:ignore>":
        return True
    pattern = re.match(r"<(!?)REGEX>:(.*)", expected, re.S)
    if pattern:
        return bool(re.fullmatch(pattern[2], cell.text, re.S)) != bool(pattern[1])
    if NULL in (cell.text, expected):
        return False
    return COMPARE.get(cell.kind, lambda one, two: False)(cell.text, expected)


def number(text):
    word = text.strip().lower().lstrip("+")
    word = {"infinity": "inf", "-infinity": "-inf"}.get(word, word)
    if not re.fullmatch(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|-?inf|-?nan", word):
        return None
    return decimal.Decimal(word)


def numbers(tolerance):
    def same(text, expected):
        one, two = number(text), number(expected)
        if one is None or two is None:
            return False
        if near(one, two, tolerance):
            return True
        digits = re.fullmatch(r"-?\d*\.(\d{3,})", expected)
        return tolerance == DOUBLE and digits is not None and one.is_finite() \
            and abs(one - two) <= decimal.Decimal(10) ** -len(digits[1])
    return same


def near(one, two, tolerance):
    if one.is_nan() or two.is_nan():
        return one.is_nan() and two.is_nan()
    if one == two:
        return True
    if one.is_infinite() or two.is_infinite() or not tolerance:
        return False
    return abs(one - two) <= decimal.Decimal(tolerance) * max(abs(one), abs(two))


def canonical_moment(text):
    """Year, day, time and fraction of a moment; the years before Christ are 0 and less."""
    text = re.sub(r"( \(BC\))( .*)", r"\2\1", text.strip())
    found = re.fullmatch(r"([-+]?\d+)(-\d+-\d+)(?:[T ](\d+:\d+(?::\d+)?)(?:\.(\d+))?)?"
                         r"(?:Z|\+00(?::?00)?)?( \(BC\))?", text)
    if not found:
        return None
    year = 1 - int(found[1]) if found[5] else int(found[1])
    time = found[3] or "00:00:00"
    return year, found[2], time + (":00" if time.count(":") == 1 else ""), \
        (found[4] or "").rstrip("0")


def moments(one, two):
    one, two = canonical_moment(one), canonical_moment(two)
    return one is not None and one == two


def times(one, two):
    cut = [re.sub(r"(\.\d*?)0+$", r"\1", text).rstrip(".") for text in (one, two)]
    return cut[0] == cut[1]


UNITS = {"year": 12, "mon": 1, "month": 1, "week": 7, "day": 1, "hour": 3600, "min": 60,
         "minute": 60, "sec": 1, "second": 1}


def canonical_interval(text):
    months = days = 0
    seconds = decimal.Decimal(0)
    rest = text.strip()
    for count, unit in re.findall(r"(-?[\d.]+) ([a-z]+)", rest):
        unit = unit.rstrip("s") or unit
        if unit not in UNITS:
            return None
        if unit in ("year", "mon", "month"):
            months += int(count) * UNITS[unit]
        elif unit in ("week", "day"):
            days += int(count) * UNITS[unit]
        else:
            seconds += decimal.Decimal(count) * UNITS[unit]
    rest = re.sub(r"(-?[\d.]+) ([a-z]+)", "", rest).strip()
    if rest:
        found = re.fullmatch(r"(-?)(\d+):(\d+):(\d+(?:\.\d+)?)", rest)
        if not found:
            return None
        span = int(found[2]) * 3600 + int(found[3]) * 60 + decimal.Decimal(found[4])
        seconds += -span if found[1] else span
    return months, days, seconds


def intervals(one, two):
    one, two = canonical_interval(one), canonical_interval(two)
    return one is not None and one == two


def durations(one, two):
    """Lengths: a day has 24 hours."""
    one, two = canonical_interval(one), canonical_interval(two)
    return one is not None and two is not None and one[0] == two[0] \
        and one[1] * 86_400 + one[2] == two[1] * 86_400 + two[2]


def parts(text):
    """What stands between the signs of nested values, and the signs."""
    text = re.sub(r"(?<=\d)T(?=\d\d:\d\d)", " ", text.replace("\\", ""))
    found = re.findall(r"[\[\]{}(),]|(?:[^\[\]{}(),:=]|(?<=\d):(?=\d\d))+", text)
    cut = [one.strip().strip("'\"").strip() for one in found]
    return [one for one in cut if one]


def nested_values(one, two):
    left, right = parts(one), parts(two)
    return len(left) == len(right) and all(map(loosely, left, right))


def loosely(one, two):
    if one == two or one.lower() == two.lower() in ("true", "false", "null"):
        return True
    left, right = number(one), number(two)
    if left is not None and right is not None:
        return near(left, right, DOUBLE)
    return moments(one, two) or intervals(one, two)


def documents(one, two):
    """Documents are equal without their blanks."""
    if one[:1] not in '{["' and two[:1] not in '{["':
        return False
    try:
        return json.loads(one) == json.loads(two)
    except ValueError:
        return False


def bools(one, two):
    truths = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
    return truths.get(one.lower()) == truths.get(two.lower(), None)


def bytes_alike(one, two):
    return binary_text(one) == two or two == "(empty)" and not one


COMPARE = {
    "bool": bools, "int": numbers(None), "decimal": numbers("1e-15"), "double": numbers(DOUBLE),
    "float": numbers("1e-6"), "text": documents, "binary": bytes_alike, "moment": moments,
    "date": moments, "time": times, "interval": intervals, "duration": durations,
    "nested": nested_values,
}


def sort_key(text):
    """What rows are sorted by where the file sorts them: equal values come at the same place."""
    found = number(text)
    if found is not None and not found.is_nan():
        return f"{float(found):.9g}"
    if text.lower() == "nan":
        return "nan"
    if text.lower() in ("true", "false"):
        return str(int(text.lower() == "true"))
    known = canonical_moment(text)
    if known and re.match(r"\d+-\d\d-\d\d", text):
        return " ".join(str(one) for one in known)
    return re.sub(r"[\s'\"]", "", text)
