"""Rows as pandas data frames. pandas is needed here only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def rows_of(frame: pandas.DataFrame) -> list[list[Any]]:
    """The rows of a frame. What pandas takes for missing is NULL."""
    import pandas

    def plain(value: Any) -> Any:
        is_scalar = pandas.api.types.is_scalar(value)
        return None if is_scalar and pandas.isna(value) else value

    return [[plain(value) for value in row] for row in frame.itertuples(index=False, name=None)]


def of_rows(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> pandas.DataFrame:
    """Rows as a frame."""
    import pandas

    return pandas.DataFrame([list(row) for row in rows], columns=list(names))
