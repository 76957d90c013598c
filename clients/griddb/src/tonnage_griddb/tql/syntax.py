"""What a query of TQL is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Number:
    text: str

    @property
    def is_whole(self) -> bool:
        return self.text.isdigit()


@dataclass(frozen=True)
class Text:
    value: str


@dataclass(frozen=True)
class Truth:
    value: bool


@dataclass(frozen=True)
class Null:
    pass


@dataclass(frozen=True)
class Moment:
    """A moment that was worked out already, in nanoseconds."""

    nanos: int


@dataclass(frozen=True)
class Star:
    pass


@dataclass(frozen=True)
class Name:
    """A column, or a word such as HOUR among the arguments of a function."""

    text: str


@dataclass(frozen=True)
class Unary:
    sign: str
    operand: Expression


@dataclass(frozen=True)
class Binary:
    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class IsNull:
    operand: Expression
    is_negated: bool


@dataclass(frozen=True)
class Like:
    operand: Expression
    pattern: Expression
    escape: Expression | None
    is_negated: bool


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[Expression, ...]


Expression = Union[
    Number, Text, Truth, Null, Moment, Star, Name, Unary, Binary, IsNull, Like, Call
]


@dataclass(frozen=True)
class Order:
    column: str
    is_descending: bool


@dataclass(frozen=True)
class Query:
    """A query.

    Attributes:
        explain: '', 'EXPLAIN' or 'EXPLAIN ANALYZE'.
        function: an aggregation or a selection such as TIME_NEXT; None for plain columns.
        columns: the columns; None for all of them.
        source: the container behind FROM.
    """

    explain: str = ""
    function: Call | None = None
    columns: tuple[str, ...] | None = None
    source: str | None = None
    where: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
