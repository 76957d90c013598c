"""What queries, row sets, indexes and bulk puts ask of the container that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import tonnage

from tonnage_griddb.catalog import Catalog
from tonnage_griddb.shape import Shape
from tonnage_griddb.undo import UndoLog
from tonnage_griddb.values import Codec


class ContainerHandle(Protocol):
    """A container, as far as its own parts know it: `Container` imports them."""

    _store: tonnage.Store
    _catalog: Catalog
    _shape: Shape
    _codec: Codec
    _auto_commit: bool
    _undo: UndoLog

    @property
    def _ttl(self) -> float | None: ...

    def _translated(self) -> Any: ...

    def _check_open(self) -> None: ...

    def _check_shape(self) -> None: ...

    def _note(self, keys: Sequence[tuple[Any, ...]]) -> None: ...

    def _numbers_from(self, last: int | None) -> list[int]: ...

    def _replace(self, row: list[Any], number: int | None) -> None: ...

    def _remove_row(self, row: list[Any], number: int | None) -> None: ...
