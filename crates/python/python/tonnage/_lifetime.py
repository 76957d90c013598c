"""What happens to open stores when the process forks or ends."""

import atexit
import os
import weakref
from typing import Any

from tonnage import _tonnage

_open: "weakref.WeakSet[Any]" = weakref.WeakSet()


def remember(store: Any) -> None:
    """Close this store when the interpreter ends."""
    _open.add(store)


def close_all() -> None:
    for store in list(_open):
        try:
            store.close()
        except Exception:  # noqa: BLE001 - the interpreter is ending, the rest must close, too
            pass


def install() -> None:
    atexit.register(close_all)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_tonnage.mark_forked)
