"""The stores that this process has open.

One process owns a store on disk, but programs for GridDB open several connections. So the
connections to one store share it. The last one to close closes the store.
"""

from __future__ import annotations

import ipaddress
import os
import threading
from collections.abc import Mapping

import tonnage

from tonnage_griddb.errors import Code, GSException, translated

VARIABLE = "TONNAGE_STORE"
MEMORY = "memory:"
SERVERS = ("grpc://", "grpc+tcp://", "grpc+tls://")

_lock = threading.Lock()
_open: dict[str, tuple[tonnage.Store, int]] = {}


def address(
    host: str | None,
    port: int | None,
    notification_member: str | None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """The store that the arguments of `get_store` and the environment name.

    `TONNAGE_STORE` wins. Else the host may be `memory:`, the address of a server, a path with a slash
    in it, or the name of a machine that runs a server on this port.
    """
    named = environment.get(VARIABLE) or host or ""
    if named.startswith(MEMORY):
        return named
    if named.startswith(SERVERS):
        return named
    if environment.get(VARIABLE) or os.sep in named:
        return os.path.realpath(os.path.expanduser(named))
    if named and port is not None and not notification_member and not _is_multicast(named):
        return f"grpc://{named}:{port}"
    asked = named or notification_member or "nothing"
    if port is not None and named:
        asked = f"{named}:{port}"
    raise GSException(
        f"get_store names {asked}, which is not a store of Tonnage: set {VARIABLE} to a directory, to "
        f"{MEMORY} or to the address of a server, grpc://HOST:PORT, or give one of these as the host",
        Code.BAD_CONNECTION,
    )


def _is_multicast(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_multicast
    except ValueError:
        return False


def acquire(
    where: str, user: str | None = None, password: str | None = None
) -> tonnage.Store:
    """Open a store, or share the one that is open. Each connection to a server is its own."""
    with _lock, translated(f"store {where}"):
        if where.startswith(SERVERS):
            if user is None or password is None:
                return tonnage.connect(where)
            return tonnage.connect(where, user=user, password=password)
        store, users = _open.get(where, (None, 0))
        if store is None or store.is_closed:
            store, users = tonnage.connect(MEMORY if where.startswith(MEMORY) else where), 0
        _open[where] = (store, users + 1)
        return store


def release(where: str, held: tonnage.Store) -> None:
    """Give up a share of a store; the last one closes it."""
    with _lock, translated(f"store {where}"):
        if where.startswith(SERVERS):
            held.close()
            return
        store, users = _open.get(where, (None, 0))
        if store is None:
            return
        if users > 1:
            _open[where] = (store, users - 1)
            return
        del _open[where]
        store.close()
