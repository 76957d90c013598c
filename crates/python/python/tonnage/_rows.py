"""Rows out of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def of_columns(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """The rows of a dict of columns, each a dict."""
    names = list(columns)
    lengths = {name: len(columns[name]) for name in names}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns are not of one length: {lengths}")
    return (dict(zip(names, values)) for values in zip(*columns.values()))
