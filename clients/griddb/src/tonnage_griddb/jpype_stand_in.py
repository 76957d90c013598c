"""Stands in for JPype, which the newer client needs and this one does not.

Its programs begin by starting a Java virtual machine, which does nothing here. Every other use of
JPype raises an error that says so.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

_is_started = False


def startJVM(*arguments: Any, **options: Any) -> None:  # noqa: N802 - JPype's names
    """Start nothing."""
    global _is_started
    _is_started = True


def shutdownJVM() -> None:  # noqa: N802
    """Shut nothing down."""
    global _is_started
    _is_started = False


def isJVMStarted() -> bool:  # noqa: N802
    """Whether `startJVM` was called."""
    return _is_started


def getDefaultJVMPath() -> str:  # noqa: N802
    """No path: there is no virtual machine."""
    return ""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise _missing(name)


class _Part(ModuleType):
    """A module of JPype, such as `jpype.dbapi2`: it can be imported, and has nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _missing(f"{self.__name__.partition('.')[2]}.{name}")


def install() -> None:
    """Put the stand-in in JPype's place, for this process."""
    module = sys.modules[__name__]
    sys.modules["jpype"] = module
    for part in ("dbapi2", "imports", "types"):
        sys.modules[f"jpype.{part}"] = _Part(f"jpype.{part}")
        setattr(module, part, sys.modules[f"jpype.{part}"])


def _missing(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"jpype.{name}: the program runs on Tonnage, without a Java virtual machine"
    )
