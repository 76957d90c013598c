"""The exception of the client, and what becomes of Tonnage's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum

import tonnage


class Code(IntEnum):
    """The numbers that GridDB gives to errors, as far as they have a counterpart here."""

    UNKNOWN = 0
    LIMIT_EXCEEDED = 1008
    STATEMENT_TIMEOUT = 10014
    CONTAINER_NOT_FOUND = 10016
    SCHEMA_UNMATCH = 10017
    SCHEMA_CHANGE_DISABLED = 60016
    CONTAINER_NAME_INVALID = 60025
    INDEX_INVALID = 60042
    SCHEMA_CHANGE_INVALID = 60149
    INTERNAL_ERROR = 145000
    EMPTY_PARAMETER = 145001
    ILLEGAL_PARAMETER = 145002
    UNSUPPORTED_OPERATION = 145003
    ILLEGAL_VALUE_FORMAT = 145006
    UNKNOWN_COLUMN = 145008
    UNSUPPORTED_KEY_TYPE = 145009
    UNSUPPORTED_FIELD_TYPE = 145010
    COLUMN_NAME_CONFLICTED = 145022
    ILLEGAL_SCHEMA = 145023
    KEY_NOT_FOUND = 145024
    BAD_CONNECTION = 145028
    ILLEGAL_COMMIT_MODE = 145035
    NO_SUCH_ELEMENT = 145037
    CONTAINER_CLOSED = 145038
    NOT_LOCKED = 145039
    RESOURCE_CLOSED = 145040
    TQL_WRONG_CONTAINER = 150010
    TQL_COLUMN_NOT_FOUND = 150012
    TQL_FUNCTION_NOT_FOUND = 150014
    TQL_CANNOT_AGGREGATE = 150020
    TQL_SYNTAX = 151001
    TQL_INVALID_TOKEN = 151002
    TQL_ORDER_WITH_AGGREGATION = 151005
    TQL_INVALID_ARGUMENT = 152002
    TQL_ARGUMENT_COUNT = 152011
    TQL_NOT_IMPLEMENTED = 152502


class GSException(Exception):
    """Whatever goes wrong.

    It holds a stack of errors, at least one. `Store.fetch_all` puts one there for each query that
    failed.
    """

    def __init__(
        self,
        message: object = "",
        code: int = Code.UNKNOWN,
        *,
        is_timeout: bool = False,
        others: Sequence[GSException] = (),
    ) -> None:
        super().__init__(str(message))
        self._stack: list[tuple[int, str]] = [(int(code), str(message))]
        for other in others:
            self._stack.extend(other._stack)
        self._is_timeout = is_timeout

    @property
    def is_timeout(self) -> bool:
        """Whether the call took longer than it may."""
        return self._is_timeout

    def get_error_stack_size(self) -> int:
        """How many errors there are."""
        return len(self._stack)

    def get_error_code(self, stack_index: int) -> int:
        """The number of an error; 0 where there is none."""
        return self._at(stack_index)[0]

    def get_message(self, stack_index: int) -> str:
        """What an error says; the empty text where there is none."""
        return self._at(stack_index)[1]

    def get_location(self, stack_index: int) -> str:
        """The empty text, as the newer client answers."""
        return ""

    def _at(self, stack_index: int) -> tuple[int, str]:
        if 0 <= stack_index < len(self._stack):
            return self._stack[stack_index]
        return (0, "")


_CODES: dict[type[Exception], Code] = {
    tonnage.InvalidRequest: Code.ILLEGAL_PARAMETER,
    tonnage.NotFound: Code.CONTAINER_NOT_FOUND,
    tonnage.Conflict: Code.SCHEMA_UNMATCH,
    tonnage.Unavailable: Code.BAD_CONNECTION,
    tonnage.TimedOut: Code.STATEMENT_TIMEOUT,
    tonnage.Exhausted: Code.LIMIT_EXCEEDED,
    tonnage.Unsupported: Code.UNSUPPORTED_OPERATION,
    tonnage.Internal: Code.INTERNAL_ERROR,
}


def of_tonnage(error: Exception, where: str = "") -> GSException:
    """The exception for an error of Tonnage."""
    # A place in SQL means nothing to someone who wrote TQL.
    reason = re.sub(r"^line \d+, column \d+: ", "", str(error))
    told = f"{where}: {reason}" if where else reason
    code = _CODES.get(type(error), Code.UNKNOWN)
    return GSException(told, code, is_timeout=isinstance(error, tonnage.TimedOut))


@contextmanager
def translated(where: str = "") -> Iterator[None]:
    """Turn what Tonnage raises into a `GSException` that says where it happened."""
    try:
        yield
    except GSException:
        raise
    except (tonnage.TonnageError, TypeError, OverflowError, ValueError) as error:
        raise of_tonnage(error, where) from error
