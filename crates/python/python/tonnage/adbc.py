"""Tonnage through ADBC: connections as PEP 249 has them, over Arrow.

Needs the packages `adbc-driver-manager` and `pyarrow`. To reach a server use
`adbc_driver_flightsql`.

    import tonnage.adbc

    with tonnage.adbc.connect("fleet") as connection, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM positions WHERE ship = ?", (7,))
        print(cursor.fetch_arrow_table())
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tonnage import _tonnage
from tonnage.errors import Unsupported
from tonnage.store import Store

if TYPE_CHECKING:
    import adbc_driver_manager.dbapi

ENTRYPOINT = "tonnage_adbc_init"


def driver() -> str:
    """The path of the library that the driver is in, for driver managers of any language.

    Its entry point is `tonnage_adbc_init`.
    """
    path = _tonnage.__file__
    assert path is not None
    return path


def connect(
    target: str | os.PathLike[str] | Store = "memory:", *, create: bool = True
) -> adbc_driver_manager.dbapi.Connection:
    """Connect as PEP 249 has it.

    Args:
        target: the path of a store, `memory:`, or a store that is open.
        create: whether a store that does not exist is made.

    Each statement commits by itself: there are no transactions. The store of a path is closed with
    the connection; one process owns it meanwhile.

    Raises:
        adbc_driver_manager.dbapi.Error: when the store cannot be opened.
        tonnage.Unsupported: for a store behind a server.
    """
    import adbc_driver_manager.dbapi as dbapi

    options = {"tonnage.create": "true" if create else "false"}
    if isinstance(target, Store):
        if target.url.startswith("grpc"):
            raise Unsupported(f"{target.url}: use adbc_driver_flightsql for a server")
        options["tonnage.store"] = str(target._native.share())
    else:
        options["uri"] = os.fspath(target)
    return dbapi.connect(driver=driver(), entrypoint=ENTRYPOINT, db_kwargs=options, autocommit=True)
