"""Opening a store, here or behind a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta

from tonnage import _lifetime, _tonnage
from tonnage._sizes import seconds, size
from tonnage.store import Store

SCHEMES = ("grpc://", "grpc+tcp://", "grpc+tls://")


def connect(
    target: str | os.PathLike[str] = "memory:",
    *,
    create: bool = True,
    data_directories: Sequence[str | os.PathLike[str]] = (),
    cache: int | str | None = None,
    user: str | None = None,
    password: str | None = None,
    token: str | None = None,
    tls_roots: str | os.PathLike[str] | None = None,
    tls_certificate: str | os.PathLike[str] | None = None,
    tls_key: str | os.PathLike[str] | None = None,
    connect_timeout: float | timedelta | None = None,
    timeout: float | timedelta | None = None,
) -> Store:
    """Open a store.

    Args:
        target: the path of its directory; `memory:` for a store that is gone when it is closed; or
            the address of `tonnage serve`, `grpc://host:port` or `grpc+tls://host:port`.
        create: whether a store that does not exist is made, or raises `NotFound`.
        data_directories: directories that a new store spreads its data over, one on each disk.
        cache: memory that caches data, in bytes or as '1GiB'; half as much more keeps columns of
            tables that SQL scans again and again.
        user: who calls a server, with `password`.
        password: the password of `user`.
        token: who calls a server, instead of a user and a password.
        tls_roots: a file of certificates (PEM) that the server's certificate is checked against;
            those of the system, unless it is given.
        tls_certificate: a file with a certificate of the caller's own (PEM), with `tls_key`.
        tls_key: the file of its key (PEM).
        connect_timeout: the longest that connecting to a server may take, in seconds; 10 unless
            it is given.
        timeout: the longest that a call to a server may take, in seconds, up to its last row.

    One process owns a store on disk: a second one gets `Unavailable`. Run `tonnage serve` to share
    a store between processes. What a server does not offer raises `Unsupported`.

    Raises:
        InvalidRequest: for an address or credentials that the server does not know.
        NotFound: when there is no store, and `create` is False.
        Unavailable: when another process owns the store, or no server answers.
    """
    address = os.fspath(target)
    of_store = {
        "create": create is not True,
        "data_directories": bool(data_directories),
        "cache": cache is not None,
    }
    of_server = {
        "user": user,
        "password": password,
        "token": token,
        "tls_roots": None if tls_roots is None else os.fspath(tls_roots),
        "tls_certificate": None if tls_certificate is None else os.fspath(tls_certificate),
        "tls_key": None if tls_key is None else os.fspath(tls_key),
        "connect_timeout": seconds(connect_timeout),
        "timeout": seconds(timeout),
    }
    native: _tonnage.Store
    if address.startswith(SCHEMES):
        _refuse(
            address, "opens a store of its own", [name for name, given in of_store.items() if given]
        )
        native = _tonnage.Store.connect(address, of_server)
    else:
        given = [name for name, value in of_server.items() if value is not None]
        _refuse(address, "calls a server", given)
        native = _tonnage.Store(
            address,
            create=create,
            data_directories=[os.fspath(directory) for directory in data_directories],
            cache_bytes=size(cache),
        )
    store = Store(native)
    _lifetime.remember(store)
    return store


def _refuse(address: str, whose: str, names: list[str]) -> None:
    if names:
        raise ValueError(f"{address}: {', '.join(names)}: this is for a connection that {whose}")
