"""The stores that this process has open.

One process owns a store on disk, but programs for GridDB open several connections. So the
connections to one store share it. The last one to close closes the store.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

import tonnage

from tonnage_griddb.errors import Code, GSException, translated

VARIABLE = "TONNAGE_STORE"
MEMORY = "memory:"

_lock = threading.Lock()
_open: dict[str, tuple[tonnage.Store, int]] = {}


def address(
    host: str | None,
    port: int | None,
    notification_member: str | None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """The store that the arguments of `get_store` and the environment name.

    `TONNAGE_STORE` wins. Else the host may be `memory:` or a path with a slash in it.
    """
    named = environment.get(VARIABLE) or host or ""
    if named.startswith(MEMORY):
        return named
    if environment.get(VARIABLE) and not named.startswith("grpc"):
        return os.path.realpath(os.path.expanduser(named))
    if os.sep in named and not named.startswith("grpc"):
        return os.path.realpath(os.path.expanduser(named))
    asked = named or notification_member or "nothing"
    if port is not None and named and not named.startswith("grpc"):
        asked = f"{named}:{port}"
    raise GSException(
        f"get_store names {asked}, and Tonnage runs inside of the program, without a server: set "
        f"{VARIABLE} to a directory or to {MEMORY}, or give one of these as the host",
        Code.BAD_CONNECTION,
    )


def acquire(where: str) -> tonnage.Store:
    """Open a store, or share the one that is open."""
    with _lock, translated(f"store {where}"):
        store, users = _open.get(where, (None, 0))
        if store is None or store.is_closed:
            store, users = tonnage.connect(MEMORY if where.startswith(MEMORY) else where), 0
        _open[where] = (store, users + 1)
        return store


def release(where: str) -> None:
    """Give up a share of a store; the last one closes it."""
    with _lock, translated(f"store {where}"):
        store, users = _open.get(where, (None, 0))
        if store is None:
            return
        if users > 1:
            _open[where] = (store, users - 1)
            return
        del _open[where]
        store.close()
