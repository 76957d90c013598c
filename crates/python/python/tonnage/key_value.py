"""Key/value pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from tonnage import _tonnage
from tonnage._sizes import seconds, size
from tonnage.range import KeyRange
from tonnage.result import Batches
from tonnage.table import Direction, Durability, Written, expiry

if TYPE_CHECKING:
    from tonnage.report import BulkPutter, PutReport

Path = Sequence[str | bytes]
Key = str | bytes | tuple[Path, Path]
"""A key: '/users/42/-/mail' (major path, `/-/`, minor path), a text or bytes without a leading '/'
for one major component, or a tuple of a major and a minor path."""

Depth = Literal[
    "parent_only",
    "children_only",
    "descendants_only",
    "parent_and_children",
    "parent_and_descendants",
]


@dataclass(frozen=True)
class Pair:
    """A stored pair.

    Attributes:
        key: the major and the minor path, as bytes.
        expires: when it expires, naive in UTC; None for never.
    """

    key: tuple[tuple[bytes, ...], tuple[bytes, ...]]
    value: bytes
    version: int
    expires: datetime | None


def pair_of(
    found: tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], bytes, int, int | None],
) -> Pair:
    """A pair as the native part gives it."""
    stored, value, version, expires_ms = found
    return Pair(stored, value, version, expiry(expires_ms))


def pair_arguments(
    *,
    depth: Depth = "parent_only",
    range: KeyRange | None = None,
    direction: Direction = "unordered",
    limit_per_key: int | None = None,
    keys_only: bool = False,
    max_concurrent_requests: int | None = None,
    memory: int | str | None = None,
    timeout: float | timedelta | None = None,
) -> dict[str, Any]:
    """The options of a read of pairs as the native library takes them."""
    return {
        "depth": depth,
        "range": range,
        "direction": direction,
        "limit_per_key": limit_per_key,
        "keys_only": keys_only,
        "max_concurrent_requests": max_concurrent_requests,
        "memory_bytes": size(memory),
        "timeout": seconds(timeout),
    }


class KeyValue:
    """The key/value pairs of a store: a dict of keys and bytes, and more."""

    def __init__(self, store: BulkPutter, native: _tonnage.KeyValue) -> None:
        self._store = store
        self._native = native

    def __getitem__(self, key: Key) -> bytes:
        found = self._native.get(key)
        if found is None:
            raise KeyError(key)
        return found[1]

    def __setitem__(self, key: Key, value: str | bytes) -> None:
        self._native.put(key, value, None, "write", None)

    def __delitem__(self, key: Key) -> None:
        if not self._native.delete(key, None, "write"):
            raise KeyError(key)

    def __contains__(self, key: Key) -> bool:
        return self._native.get(key) is not None

    def get(self, key: Key) -> Pair | None:
        """The pair of a key; None when there is none."""
        found = self._native.get(key)
        if found is None:
            return None
        return pair_of(found)

    def put(
        self,
        key: Key,
        value: str | bytes,
        *,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> int:
        """Store a value, whatever is there. Returns its version."""
        _, version = self._native.put(key, value, None, durability, seconds(ttl))
        assert version is not None
        return version

    def put_if_absent(
        self,
        key: Key,
        value: str | bytes,
        *,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> Written:
        """Store a value if its key is free."""
        return Written(*self._native.put(key, value, "absent", durability, seconds(ttl)))

    def put_if_present(
        self,
        key: Key,
        value: str | bytes,
        *,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> Written:
        """Replace a value if there is one."""
        return Written(*self._native.put(key, value, "present", durability, seconds(ttl)))

    def put_if_version(
        self,
        key: Key,
        value: str | bytes,
        version: int,
        *,
        ttl: float | timedelta | None = None,
        durability: Durability = "write",
    ) -> Written:
        """Replace a value if it still has this version."""
        return Written(*self._native.put(key, value, version, durability, seconds(ttl)))

    def delete(
        self, key: Key, *, version: int | None = None, durability: Durability = "write"
    ) -> bool:
        """Delete a pair. Returns whether there was one, of that version if given."""
        return self._native.delete(key, version, durability)

    def delete_subtree(
        self,
        parent: Key,
        *,
        depth: Depth = "parent_and_descendants",
        range: KeyRange | None = None,
        durability: Durability = "write",
    ) -> int:
        """Delete the pairs at and below a key. Returns how many."""
        return self._native.delete_subtree(parent, depth, range, durability)

    def bulk_put(
        self, pairs: Mapping[Any, str | bytes] | Iterable[tuple[Any, str | bytes]], **options: Any
    ) -> PutReport:
        """Put many pairs: a dict, or tuples of a key and bytes. Options as for `Store.bulk_put`."""
        return self._store.bulk_put(pairs, None, **options)

    def bulk_get(self, keys: Iterable[Key], **options: Any) -> Batches:
        """Get the pairs of many keys, or below them.

        Args:
            keys: any iterable of keys.
            **options: `depth`, `range` (a `KeyRange`), `direction`, `limit_per_key`, `keys_only`,
                `max_concurrent_requests`, `memory`, `timeout`.

        Returns:
            Batches with the columns `key` (text), `value`, `version` and `expires_at`.
        """
        return Batches(self._native.bulk_get(keys, pair_arguments(**options)))

    def scan(self, **options: Any) -> Batches:
        """Get all pairs. Options as for `bulk_get`, without `depth` and `range`."""
        return Batches(self._native.scan(pair_arguments(**options)))

    def count(self) -> int:
        """Count all pairs, by reading their keys."""
        return self._native.count()

    def __repr__(self) -> str:
        return f"KeyValue({self._store.url!r})"
