"""What a query found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from tonnage_griddb.enums import RowSetType
from tonnage_griddb.errors import Code, GSException, translated
from tonnage_griddb.tql.plan import Plan
from tonnage_griddb.values import Decoder

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from tonnage import Result

    from tonnage_griddb.handle import ContainerHandle

_NOTHING = object()


class RowSet:
    """Rows, or results of an aggregation, with a cursor before the first.

    `Query.fetch` reads all rows, so later changes of the container do not show. With the fetch
    option `partial=True` rows are read as the cursor moves, and `size` reads the rest.
    """

    def __init__(
        self,
        container: ContainerHandle,
        plan: Plan,
        result: Result,
        *,
        is_for_update: bool = False,
        is_partial: bool = False,
        batch_size: int = -1,
    ) -> None:
        self._container = container
        self._plan = plan
        self._is_for_update = is_for_update
        self._batch_size = batch_size
        self._result = result
        self._is_closed = False
        self._current: list[Any] | None = None
        self._ahead: Any = _NOTHING
        self._taken = 0
        self._number: int | None = None
        with translated(f"container {container._shape.name}"):
            self._batches = iter(result) if is_partial else list(result)
        self._rows = self._items()

    @property
    def type(self) -> RowSetType:
        """What the row set holds. Known before the first row, as in the older client."""
        return self._plan.kind

    @property
    def size(self) -> int:
        """How many rows or results there are."""
        self._check_open()
        if self._plan.finish is None:
            if not isinstance(self._batches, list):
                self._rest = list(self._rows)
                self._rows = iter(self._rest)
                ahead = 0 if self._ahead is _NOTHING else 1
                return self._taken + ahead + len(self._rest)
            return sum(len(batch) for batch in self._batches)
        return len(self._finished)

    def has_next(self) -> bool:
        """Whether something stands behind the cursor."""
        self._check_open()
        if self._ahead is _NOTHING:
            self._ahead = next(self._rows, _NOTHING)
        return self._ahead is not _NOTHING

    def next(self) -> Any:
        """Move the cursor on, and return the row, result or line of a plan there."""
        if not self.has_next():
            raise GSException(
                "the row set has no more rows: ask has_next before", Code.NO_SUCH_ELEMENT
            )
        item, self._ahead = self._ahead, _NOTHING
        self._taken += 1
        if self._plan.has_number:
            self._number = item.pop()
        self._current = list(item) if self._is_for_update and isinstance(item, list) else None
        return item

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if not self.has_next():
            raise StopIteration
        return self.next()

    def update(self, row: list[Any]) -> None:
        """Replace the values of the row at the cursor. The row key stays as it is."""
        current = self._row_to_change()
        changed = list(row)
        for place in self._container._shape.key_places:
            if place < len(changed):
                changed[place] = current[place]
        self._container._replace(changed, self._number)

    def remove(self) -> None:
        """Remove the row at the cursor."""
        self._container._remove_row(self._row_to_change(), self._number)
        self._current = None

    def get_column_names(self) -> list[str]:
        """The names of the columns of the rows."""
        if self._plan.kind != RowSetType.CONTAINER_ROWS:
            return []
        return [column.name for column in self._plan.columns]

    def fetch_rows(self) -> pandas.DataFrame:
        """All rows that are left, as a pandas data frame."""
        from tonnage_griddb import frames

        return frames.of_rows(list(self), self.get_column_names())

    def next_record_batch(self) -> pyarrow.RecordBatch | None:
        """Return the next rows as an Arrow record batch; None at the end.

        The fetch option `batch_size` says how many.
        """
        from tonnage_griddb import arrow

        if self._plan.kind != RowSetType.CONTAINER_ROWS:
            raise GSException(
                "a record batch holds rows, and the row set has none", Code.UNSUPPORTED_OPERATION
            )
        rows = list(islice(self, self._batch_size if self._batch_size > 0 else None))
        if not rows and self._taken:
            return None
        return arrow.batch_of(rows, self._plan.columns)

    def close(self) -> None:
        """Stop reading."""
        self._is_closed = True
        self._result.close()

    def _items(self) -> Iterator[Any]:
        if self._plan.finish is not None:
            self._finished = self._plan.finish(list(self._decoded()))
            return iter(self._finished)
        return self._decoded()

    def _decoded(self) -> Iterator[list[Any]]:
        decode: Callable[[Any], list[Any]] = Decoder(self._plan.columns).decode
        with translated(f"container {self._container._shape.name}"):
            for batch in self._batches:
                for row in batch.rows(tuples=True):
                    yield decode(row)

    def _row_to_change(self) -> list[Any]:
        self._check_open()
        if not self._is_for_update:
            raise GSException(
                "rows are changed in a row set that was fetched for it: fetch(True)",
                Code.NOT_LOCKED,
            )
        if not self._plan.is_whole:
            raise GSException(
                "the rows lack columns of the container: select '*' to change them",
                Code.UNSUPPORTED_OPERATION,
            )
        if self._current is None:
            raise GSException("there is no row at the cursor: call next", Code.NO_SUCH_ELEMENT)
        return self._current

    def _check_open(self) -> None:
        if self._is_closed:
            raise GSException(
                "the row set is closed: a query has one at a time", Code.RESOURCE_CLOSED
            )
