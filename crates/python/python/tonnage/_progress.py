"""The progress of a bulk put, as a line on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tonnage.report import Counts

SECONDS_BETWEEN_LINES = 0.25


@contextmanager
def bar(progress: bool | Callable[[Counts], None]) -> Iterator[Callable[[Counts], None] | None]:
    """What to call with the counts; None when nobody wants them."""
    if not progress:
        yield None
        return
    if callable(progress):
        yield progress
        return
    began = last = time.monotonic()
    shown = False

    def show(counts: Counts) -> None:
        nonlocal last, shown
        now = time.monotonic()
        if now - last < SECONDS_BETWEEN_LINES:
            return
        last, shown = now, True
        rate = counts.read / (now - began)
        line = f"\r{counts.read:,} rows read, {counts.inserted:,} inserted, {rate:,.0f} rows/s"
        print(line, end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if shown:
            print(file=sys.stderr)
