"""What an abort takes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tonnage


class UndoLog:
    """The rows as they were before each change under manual commit.

    Tonnage has no transactions over several rows. Changes are stored at once, and others see them.
    An abort stores the rows as they were.
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
