"""Moments: as Python's datetimes, as nanoseconds, as text. All are in UTC."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone
from functools import total_ordering
from typing import Any

from tonnage_griddb.enums import TimeUnit
from tonnage_griddb.errors import Code, GSException

EPOCH = datetime(1970, 1, 1)
NANOS_PER_SECOND = 1_000_000_000
DIGITS = {TimeUnit.MILLISECOND: 3, TimeUnit.MICROSECOND: 6, TimeUnit.NANOSECOND: 9}
NANOS_PER = {
    TimeUnit.DAY: 86_400 * NANOS_PER_SECOND,
    TimeUnit.HOUR: 3_600 * NANOS_PER_SECOND,
    TimeUnit.MINUTE: 60 * NANOS_PER_SECOND,
    TimeUnit.SECOND: NANOS_PER_SECOND,
    TimeUnit.MILLISECOND: 1_000_000,
    TimeUnit.MICROSECOND: 1_000,
    TimeUnit.NANOSECOND: 1,
}

_TEXT = re.compile(
    r"(\d{4,})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?"
    r"(?:(Z)|([+-])(\d\d):?(\d\d))?"
)


@total_ordering
class Timestamp:
    """A moment with nanoseconds: what a TIMESTAMP column of that precision holds."""

    def __init__(
        self,
        year: int,
        month: int,
        day: int,
        hour: int = 0,
        minute: int = 0,
        second: int = 0,
        nanosecond: int = 0,
    ) -> None:
        if not 0 <= nanosecond < NANOS_PER_SECOND:
            raise GSException(
                f"{nanosecond} is not a number of nanoseconds: give 0 to 999,999,999",
                Code.ILLEGAL_PARAMETER,
            )
        self._second = datetime(year, month, day, hour, minute, second)
        self._nanosecond = nanosecond

    @classmethod
    def of_nanos(cls, nanos: int) -> Timestamp:
        """The moment so many nanoseconds after 1970-01-01T00:00:00Z."""
        seconds, rest = divmod(nanos, NANOS_PER_SECOND)
        at = EPOCH + timedelta(seconds=seconds)
        return cls(at.year, at.month, at.day, at.hour, at.minute, at.second, rest)

    @property
    def nanos(self) -> int:
        """The nanoseconds since 1970-01-01T00:00:00Z."""
        return _micros(self._second) * 1_000 + self._nanosecond

    def datetime(self) -> datetime:
        """The moment as a datetime, without what is finer than a microsecond."""
        return self._second.replace(microsecond=self._nanosecond // 1_000)

    def getTime(self) -> int:  # noqa: N802 - the name that users of java.sql.Timestamp know
        """The milliseconds since 1970-01-01T00:00:00Z."""
        return self.nanos // 1_000_000

    def getNanos(self) -> int:  # noqa: N802
        """The nanoseconds behind the second."""
        return self._nanosecond

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanos == other.nanos

    def __lt__(self, other: Timestamp) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __str__(self) -> str:
        return f"{self._second.isoformat(' ')}.{self._nanosecond:09d}"

    def __repr__(self) -> str:
        return f"Timestamp({str(self)!r})"


class TimestampUtils:
    """Helpers for moments."""

    @staticmethod
    def get_time_millis(timestamp: float) -> int:
        """The milliseconds of what `datetime.timestamp` gives, which counts in seconds."""
        return _micros_of_seconds(timestamp) // 1_000

    get_time_mills = get_time_millis


def parse(text: str) -> int:
    """The nanoseconds of a text such as `2018-12-01T10:00:00.000Z`; UTC where no zone is told."""
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        raise GSException(
            f"'{text}' is not a timestamp: write it as 2018-12-01T10:00:00.000Z",
            Code.ILLEGAL_VALUE_FORMAT,
        )
    year, month, day, hour, minute, second, fraction, _, sign, hours, minutes = found.groups()
    try:
        at = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second))
    except ValueError as error:
        told = f"'{text}' is not a timestamp: {error}"
        raise GSException(told, Code.ILLEGAL_VALUE_FORMAT) from error
    nanos = _micros(at) * 1_000 + int((fraction or "").ljust(9, "0"))
    if sign:
        offset = (int(hours) * 3_600 + int(minutes) * 60) * NANOS_PER_SECOND
        nanos += -offset if sign == "+" else offset
    return nanos


def nanos_of(value: Any) -> int:
    """The nanoseconds of a datetime, a `Timestamp`, a text or a number of seconds.

    A naive datetime is UTC; an aware one is turned to UTC.
    """
    if isinstance(value, datetime):
        # The datetime of pandas has nanoseconds.
        return _micros(naive(value)) * 1_000 + getattr(value, "nanosecond", 0)
    if isinstance(value, Timestamp):
        return value.nanos
    if isinstance(value, str):
        return parse(value)
    if isinstance(value, float) and math.isfinite(value):
        return _micros_of_seconds(value) * 1_000
    raise GSException(
        f"{value!r} is not a timestamp: give a datetime, a Timestamp, a text or seconds as a float",
        Code.ILLEGAL_VALUE_FORMAT,
    )


def of_nanos(nanos: int, unit: TimeUnit) -> datetime | Timestamp:
    """The moment as a column of this precision gives it."""
    if unit == TimeUnit.NANOSECOND:
        return Timestamp.of_nanos(nanos)
    return EPOCH + timedelta(microseconds=truncated(nanos, unit) // 1_000)


def truncated(nanos: int, unit: TimeUnit) -> int:
    """The nanoseconds without what is finer than the unit."""
    step = NANOS_PER[unit]
    return nanos // step * step


def text(nanos: int, digits: int = 3) -> str:
    """The moment as text, with at least so many digits behind the second."""
    seconds, rest = divmod(nanos, NANOS_PER_SECOND)
    try:
        at = EPOCH + timedelta(seconds=seconds)
    except OverflowError as error:
        raise GSException(
            "a timestamp is outside of the years 1 to 9999", Code.ILLEGAL_VALUE_FORMAT
        ) from error
    while digits < 9 and rest % 10 ** (9 - digits):
        digits += 3
    return f"{at.isoformat('T')}.{f'{rest:09d}'[:digits]}"


def naive(value: datetime) -> datetime:
    """The datetime in UTC, without a zone."""
    if value.tzinfo is None:
        return value
    return value.astimezone(timezone.utc).replace(tzinfo=None)


def _micros_of_seconds(seconds: float) -> int:
    """The microseconds nearest to a double, which is a little less than 1.001 for 1.001."""
    return round(seconds * 1_000_000)


def _micros(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)
