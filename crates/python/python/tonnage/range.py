"""Ranges of columns and of key components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Range:
    """A range of the first key column that a key leaves open.

    Bounds that are None leave that side open.
    """

    column: str
    low: Any = None
    high: Any = None
    low_inclusive: bool = True
    high_inclusive: bool = True


@dataclass(frozen=True)
class KeyRange:
    """A range of the minor component right below the key of a pair, in the order of bytes."""

    low: str | bytes | None = None
    high: str | bytes | None = None
    low_inclusive: bool = True
    high_inclusive: bool = True
    prefix: str | bytes | None = None
