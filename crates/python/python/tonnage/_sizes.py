"""Sizes and times as people write them."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {
    "": 1,
    "B": 1,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
    "KIB": 1 << 10,
    "MIB": 1 << 20,
    "GIB": 1 << 30,
    "TIB": 1 << 40,
}


def size(value: int | str | None) -> int | None:
    """Bytes out of a number of bytes or a text such as '64MiB'."""
    if value is None or isinstance(value, int):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", value)
    if match is None or match.group(2).upper() not in _UNITS:
        raise ValueError(f"{value!r} is not a size: give bytes, or for instance '64MiB'")
    return int(float(match.group(1)) * _UNITS[match.group(2).upper()])


def seconds(value: float | timedelta | None) -> float | None:
    """Seconds out of a number of seconds or a timedelta."""
    return value.total_seconds() if isinstance(value, timedelta) else value
