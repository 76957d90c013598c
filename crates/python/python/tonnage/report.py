"""What bulk puts tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Counts:
    """Counts of entries.

    Attributes:
        read: entries read.
        inserted: entries stored under a key that was free.
        existed: entries whose key existed: left out with `keep`, replaced with `replace`.
        overtaken: entries that gave way to a write that came while the load was under way.
        failed: entries that could not be read, encoded or written.
        bytes: bytes of keys and values encoded.
    """

    read: int = 0
    inserted: int = 0
    existed: int = 0
    overtaken: int = 0
    failed: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class StreamReport:
    """What became of one stream.

    Attributes:
        completed: whether it was read to its end and all of its entries are durable.
    """

    stream: int
    name: str
    counts: Counts
    completed: bool


@dataclass(frozen=True)
class FailedRow:
    """A row that was not stored, by its stream and its position there, from 0."""

    stream: int
    position: int
    column: str | None
    reason: str


@dataclass(frozen=True)
class ExistingRow:
    """A row whose key exists, by its stream and its position there, with its table and its key."""

    stream: int
    position: int
    table: str
    key: dict[str, Any]


@dataclass(frozen=True)
class PutReport:
    """What a bulk put did, in all and for each stream."""

    total: Counts
    streams: list[StreamReport]
    seconds: float
    failures: list[FailedRow] = field(default_factory=list)
    """The first thousand rows that were not stored, unless `on_failed` took them."""

    @property
    def read(self) -> int:
        return self.total.read

    @property
    def inserted(self) -> int:
        return self.total.inserted

    @property
    def existed(self) -> int:
        return self.total.existed

    @property
    def failed(self) -> int:
        return self.total.failed

    @property
    def rows_per_second(self) -> float:
        return self.total.read / self.seconds if self.seconds > 0 else 0.0


def counts_of(told: dict[str, Any]) -> Counts:
    return Counts(*(told[name] for name in ("read", "inserted", "existed", "overtaken", "failed", "bytes")))


def stream_of(told: dict[str, Any]) -> StreamReport:
    return StreamReport(told["stream"], told["name"], counts_of(told), told["completed"])


class BulkPutter(Protocol):
    """The store that a table, or the pairs, put in bulk through."""

    @property
    def url(self) -> str: ...

    @property
    def bulk_put(self) -> Callable[..., PutReport]: ...
