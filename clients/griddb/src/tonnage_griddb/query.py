"""A query on a container."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tonnage_griddb.errors import Code, GSException, translated
from tonnage_griddb.rowset import RowSet
from tonnage_griddb.tql.parser import parse
from tonnage_griddb.tql.plan import Plan, Planner

if TYPE_CHECKING:
    from tonnage import Result

    from tonnage_griddb.handle import ContainerHandle


class Query:
    """A query, with the row set of its last run."""

    def __init__(self, container: ContainerHandle, planned: Callable[[Planner], Plan]) -> None:
        self._container = container
        self._planned = planned
        self._limit: int | None = None
        self._is_partial = False
        self._batch_size = -1
        self._plan: Plan | None = None
        self._is_for_update = False
        self._row_set: RowSet | None = None
        self._latest: RowSet | None = None
        self._is_closed = False

    @classmethod
    def of_text(cls, container: ContainerHandle, text: str) -> Query:
        """A query in TQL."""
        return cls(container, lambda planner: planner.plan(parse(text)))

    def set_fetch_options(
        self,
        limit: int | None = -1,
        partial: bool = False,
        batch_size: int = -1,
        root_allocator: object | None = None,
    ) -> None:
        """Set how rows are fetched.

        Args:
            limit: the most rows; -1 or None for all.
            partial: give the rows as they are read, instead of all at once.
            batch_size: how many rows `RowSet.next_record_batch` gives; -1 for all.
            root_allocator: accepted and ignored.
        """
        self._limit = None if limit is None or limit < 0 else limit
        self._is_partial = partial
        self._batch_size = batch_size

    def fetch(
        self,
        for_update: bool = False,
        *,
        forUpdate: bool = False,  # noqa: N803 - the name in 5.8, against its documents
    ) -> RowSet:
        """Run the query.

        Args:
            for_update: allow `RowSet.update` and `RowSet.remove`. Needs `set_auto_commit(False)`.

        Closes the row set of the run before.
        """
        sql = self._prepare(for_update or forUpdate)
        container = self._container
        with translated(f"container {container._shape.name}"):
            result = container._store.sql(sql)
        row_set = self._take(result)
        self._row_set = None
        return row_set

    def get_row_set(self) -> RowSet | None:
        """Return the row set of `Store.fetch_all`, once; None until the next run."""
        row_set, self._row_set = self._row_set, None
        return row_set

    def close(self) -> None:
        """Close the query and its row set."""
        self._is_closed = True
        self._close_row_set()

    def _prepare(self, is_for_update: bool) -> str:
        """The statement to run. Raises when the query cannot be run."""
        if self._is_closed:
            raise GSException("the query is closed", Code.RESOURCE_CLOSED)
        self._container._check_open()
        if is_for_update and self._container._auto_commit:
            raise GSException(
                "rows can be changed through a query under manual commit only: call "
                "set_auto_commit(False) on the container before",
                Code.ILLEGAL_COMMIT_MODE,
            )
        shape = self._container._shape
        # NOW() counts in milliseconds, as in GridDB. So a comparison with a row key is a range.
        now = time.time_ns() // 1_000_000 * 1_000_000
        planner = Planner(shape, now, is_for_update, self._limit)
        try:
            self._plan = self._planned(planner)
        except RecursionError:
            raise GSException("TQL: the query is too deep", Code.TQL_SYNTAX) from None
        self._is_for_update = is_for_update
        return self._plan.sql

    def _take(self, result: Result) -> RowSet:
        """The row set of the answer to the statement."""
        assert self._plan is not None
        self._close_row_set()
        row_set = RowSet(
            self._container,
            self._plan,
            result,
            is_for_update=self._is_for_update,
            is_partial=self._is_partial and not self._is_for_update,
            batch_size=self._batch_size,
        )
        self._row_set = self._latest = row_set
        return row_set

    def _close_row_set(self) -> None:
        if self._latest is not None:
            self._latest.close()
        self._row_set = self._latest = None

    def __repr__(self) -> str:
        return f"Query(on {self._container._shape.name})"

