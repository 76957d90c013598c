"""What an abort takes back."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import tonnage


class TransactionWarning(UserWarning):
    """Manual commit differs from GridDB's. Warned of once in a process."""


class UndoLog:
    """The rows as they were before each change under manual commit.

    Tonnage has no transactions over several rows. So changes are stored at once, others see them,
    and an abort stores the rows as they were.
    """

    def __init__(self) -> None:
        self._entries: list[tuple[tuple[Any, ...], dict[str, Any] | None]] = []

    def remember(self, key: tuple[Any, ...], row: dict[str, Any] | None) -> None:
        """Note a row before it changes; None for a key that has none."""
        self._entries.append((key, row))

    def forget(self) -> None:
        self._entries.clear()

    def take_back(self, table: tonnage.Table, put: Callable[[dict[str, Any]], None]) -> None:
        """Undo all changes, the latest first."""
        while self._entries:
            key, row = self._entries[-1]
            if row is None:
                table.delete(*key)
            else:
                put(row)
            self._entries.pop()


_warned = False


def warn_once() -> None:
    """Say once in a process how manual commit differs from GridDB's."""
    global _warned
    if _warned:
        return
    _warned = True
    warnings.warn(
        "under manual commit changes are stored at once and are seen by others; abort stores the "
        "rows as they were, and no rows are locked",
        TransactionWarning,
        stacklevel=3,
    )
