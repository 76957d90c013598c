"""Values that queries of KVQL should give, compared with those that borneo gives, and given to it."""

import base64
import json
import math
import re
import struct
from collections import OrderedDict
from datetime import datetime
from decimal import Decimal

from borneo.common import Empty, JsonNone
from borneo.serdeutil import SerdeUtil


class Stamp(datetime):
    """A timestamp that remembers its text: borneo's datetime holds six digits, the server has nine."""

    raw = ""


def read_stamp(stream):
    text = SerdeUtil.read_string(stream)
    m = re.match(r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?)?Z?$", text)
    if not m:
        return text
    y, mo, d, h, mi, s, f = m.groups()
    if y == "0000":
        return text
    stamp = Stamp(
        int(y),
        int(mo),
        int(d),
        int(h or 0),
        int(mi or 0),
        int(s or 0),
        int(((f or "") + "000000")[:6]),
    )
    stamp.raw = text
    return stamp


SerdeUtil.read_datetime = staticmethod(read_stamp)


class Number(str):
    """A number of an expected file, as its text."""


def parse_json(text):
    return json.loads(
        text,
        parse_int=Number,
        parse_float=Number,
        parse_constant=Number,
        object_pairs_hook=OrderedDict,
    )


def single(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def same(want, have, loose, path="", bags=False):
    """Why `have` (from borneo) differs from `want` (from parse_json); None when it does not."""
    if isinstance(have, (JsonNone, Empty)):
        have = None
    if want is None or have is None:
        return None if want is have else f"{path}: want {want!r} have {have!r}"
    if isinstance(want, Number):
        if isinstance(have, bool) or not isinstance(have, (int, float, Decimal)):
            return f"{path}: want number {want} have {have!r}"
        if want in ("NaN", "Infinity", "-Infinity"):
            w = float(want)
            return (
                None
                if (math.isnan(w) and math.isnan(have)) or w == have
                else f"{path}: want {want} have {have!r}"
            )
        whole = re.fullmatch(r"-?\d+", want) is not None
        if isinstance(have, Decimal):
            ok = Decimal(want) == have
        elif isinstance(have, float):
            if whole and not loose:
                return f"{path}: want whole {want} have double {have!r}"
            w = float(want)
            ok = (
                w == have
                or single(w) == single(have)
                or (w != 0 and abs(w - have) <= 1e-14 * abs(w))
            )
        else:
            if not whole and not loose:
                return f"{path}: want double {want} have whole {have!r}"
            ok = Decimal(want) == have
        return None if ok else f"{path}: want {want} have {have!r}"
    if isinstance(want, bool):
        return None if have is want else f"{path}: want {want} have {have!r}"
    if isinstance(want, str):
        if isinstance(have, Stamp):
            trim = lambda t: re.sub(r"\.?0+$", "", t.rstrip("Z")) if "." in t else t.rstrip("Z")
            return None if trim(have.raw) == trim(want) else f"{path}: want {want} have {have.raw}"
        if isinstance(have, (bytes, bytearray)):
            have = base64.b64encode(bytes(have)).decode()
        if isinstance(have, datetime):
            have = have.isoformat()
        return None if want == have else f"{path}: want {want!r} have {have!r}"
    if isinstance(want, list):
        if not isinstance(have, list) or len(want) != len(have):
            return f"{path}: want {len(want)} elements have {have!r:.80}"
        if bags:
            left = list(have)
            for w in want:
                hit = next(
                    (i for i, h in enumerate(left) if same(w, h, loose, "", True) is None), None
                )
                if hit is None:
                    return f"{path}: no element {w!r:.60}"
                left.pop(hit)
            return None
        for i, (w, h) in enumerate(zip(want, have)):
            if why := same(w, h, loose, f"{path}[{i}]"):
                return why
        return None
    if not isinstance(have, dict) or set(want) != set(have):
        return f"{path}: want fields {list(want)} have {list(have) if isinstance(have, dict) else have!r}"
    for k in want:
        if why := same(want[k], have[k], loose, f"{path}.{k}", bags):
            return why
    return None


def variable(text, kind, declared):
    """The Python value of a variable of test.config."""
    if text is None:
        return None
    if kind == "jnull":
        return JsonNone()
    declared = (declared or "").strip().lower()
    base = re.split(r"[\s(<]", declared)[0]
    if base in ("", "any", "anyatomic", "anyjsonatomic", "anyrecord"):
        base = {
            "number": "number",
            "string": "string",
            "json": "json",
            "array": "json",
            "boolean": "boolean",
        }.get(kind, "string")
    if base in ("int", "integer", "long"):
        return int(text)
    if base in ("float", "double"):
        return float(text)
    if base == "number":
        return Decimal(text)
    if base == "boolean":
        return text.lower() == "true"
    if base in ("json", "array", "map", "record"):
        return plain(text)
    if base == "binary" or declared.startswith("binary"):
        return bytearray(base64.b64decode(text))
    return text


class Fraction(float):
    """A double that remembers its text."""

    text = ""


def fraction(text):
    f = Fraction(text)
    f.text = text
    return f


def fit(value, kind):
    """A value of JSON text as borneo wants it. `kind` is its declared type (a field of a table's schema); None: JSON."""
    if isinstance(value, Fraction):
        base = (kind or {}).get("type", "JSON")
        try:
            exact = Decimal(value.text)
        except ArithmeticError:
            return float(value)  # an exponent that Decimal cannot hold
        if base == "NUMBER" and value.text.lower() not in ("infinity", "-infinity", "nan"):
            return exact
        loses = (
            exact.is_finite()
            and (math.isinf(value) or exact != Decimal(repr(float(value))))
            and value.text.upper() != "4.9E-324"
        )
        return (
            exact if base in ("JSON", "ANY") and loses else float(value)
        )  # as Jackson does it for the direct driver
    if isinstance(value, list):
        return [fit(v, (kind or {}).get("collection")) for v in value]
    if isinstance(value, dict):
        fields = {f["name"].lower(): f for f in (kind or {}).get("fields", [])}
        return OrderedDict(
            (k, fit(v, fields.get(k.lower()) or (kind or {}).get("collection")))
            for k, v in value.items()
        )
    return value


def plain(text, kind=None):
    whole = lambda t: (
        int(t) if -(2**63) <= int(t) < 2**63 else Decimal(t)
    )  # borneo wraps greater ones
    text = re.sub(
        r"(?<=[:\[,\s])([+-]?)INF(?=[\s,}\]])", lambda m: m[1].replace("+", "") + "Infinity", text
    )
    return fit(
        json.loads(text, parse_int=whole, parse_float=fraction, object_pairs_hook=OrderedDict), kind
    )
