"""The constants of both generations of the client, with the numbers that they have there."""

from __future__ import annotations

from enum import IntEnum


class Constant(IntEnum):
    """A constant that prints as its number, in every version of Python."""

    __str__ = int.__repr__


class ContainerType(Constant):
    """What a container is."""

    COLLECTION = 0
    TIME_SERIES = 1


class IndexType(Constant):
    """What an index is made of. Tonnage has ordered indexes: TREE, HASH and DEFAULT give one."""

    DEFAULT = -1
    TREE = 1
    HASH = 2
    SPATIAL = 4


class RowSetType(Constant):
    """What a row set holds."""

    CONTAINER_ROWS = 0
    AGGREGATION_RESULT = 1
    QUERY_ANALYSIS = 2


class TimeUnit(Constant):
    """A unit of time, and the precision of a TIMESTAMP column."""

    YEAR = 0
    MONTH = 1
    DAY = 2
    HOUR = 3
    MINUTE = 4
    SECOND = 5
    MILLISECOND = 6
    MICROSECOND = 7
    NANOSECOND = 8


class Type(Constant):
    """The type of a column."""

    STRING = 0
    BOOL = 1
    BYTE = 2
    SHORT = 3
    INTEGER = 4
    LONG = 5
    FLOAT = 6
    DOUBLE = 7
    TIMESTAMP = 8
    GEOMETRY = 9
    BLOB = 10
    STRING_ARRAY = 11
    BOOL_ARRAY = 12
    BYTE_ARRAY = 13
    SHORT_ARRAY = 14
    INTEGER_ARRAY = 15
    LONG_ARRAY = 16
    FLOAT_ARRAY = 17
    DOUBLE_ARRAY = 18
    TIMESTAMP_ARRAY = 19


class TypeOption(Constant):
    """Whether a column takes NULL."""

    NULLABLE = 2
    NOT_NULL = 4


class FetchOption(Constant):
    """What `Query.set_fetch_options` sets."""

    LIMIT = 0
    PARTIAL_EXECUTION = 1


class Aggregation(Constant):
    """What `Container.aggregate_time_series` works out."""

    MINIMUM = 0
    MAXIMUM = 1
    TOTAL = 2
    AVERAGE = 3
    VARIANCE = 4
    STANDARD_DEVIATION = 5
    COUNT = 6
    WEIGHTED_AVERAGE = 7


class InterpolationMode(Constant):
    """What fills a sampling point at which there is no row."""

    LINEAR_OR_PREVIOUS = 0
    EMPTY = 1


class QueryOrder(Constant):
    """The order of a query over a range of time."""

    ASCENDING = 0
    DESCENDING = 1
