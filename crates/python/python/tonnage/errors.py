"""What goes wrong: one class for each thing that a caller can do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tonnage.report import PutReport


class TonnageError(Exception):
    """Anything that a store refuses or fails at.

    Attributes:
        kind: what the caller can do about it, in a word or two, as the program prints it.
        retryable: whether the same call may succeed later.
    """

    kind = "error"
    retryable = False


class InvalidRequest(TonnageError, ValueError):
    """The request is wrong. Fix it before retrying."""

    kind = "invalid request"


class NotFound(TonnageError, LookupError):
    """What was asked for does not exist."""

    kind = "not found"


class Conflict(TonnageError):
    """The request is sound, but what is stored speaks against it."""

    kind = "conflict"


class Unavailable(TonnageError):
    """The store cannot answer now: it is locked, out of space, stalled or closed."""

    kind = "unavailable"
    retryable = True


class Cancelled(TonnageError):
    """The call was called off. What was done before stays."""

    kind = "cancelled"


class TimedOut(TonnageError, TimeoutError):
    """It took longer than the caller gives it."""

    kind = "timed out"
    retryable = True


class Exhausted(TonnageError):
    """A limit of memory or of space was reached. Raise it, or ask for less at once."""

    kind = "exhausted"


class Corruption(TonnageError):
    """Stored data is damaged. Run `tonnage check`."""

    kind = "corruption"


class Unsupported(TonnageError, NotImplementedError):
    """This store does not offer it."""

    kind = "unsupported"


class Internal(TonnageError):
    """A defect in Tonnage itself. Report it."""

    kind = "internal error"


class BulkPutError(TonnageError):
    """A bulk put stopped early.

    Attributes:
        report: what it had done by then. Everything counted as inserted or existing is stored.
    """

    report: PutReport

    def __init__(self, message: str, report: PutReport, kind: str, retryable: bool) -> None:
        super().__init__(message)
        self.report = report
        self.kind = kind
        self.retryable = retryable


class TooManyErrors(BulkPutError):
    """More rows failed than `errors_max` allows. Mend the source, or allow more."""


_CLASSES: dict[str, type[TonnageError]] = {
    cls.kind: cls
    for cls in (
        InvalidRequest,
        NotFound,
        Conflict,
        Unavailable,
        Cancelled,
        TimedOut,
        Exhausted,
        Corruption,
        Unsupported,
        Internal,
    )
}


def of_kind(kind: str, message: str) -> TonnageError:
    """The exception for an error of the native library."""
    return _CLASSES.get(kind, TonnageError)(message)
