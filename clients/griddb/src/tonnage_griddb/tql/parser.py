"""Reads TQL.

The operators bind, from the loosest to the closest: OR and XOR, AND, NOT, comparisons with LIKE and
IS, `+` and `-`, `*` with `/` and `%`, the minus of a single value.
"""

from __future__ import annotations

from tonnage_griddb.errors import Code, GSException
from tonnage_griddb.tql.lexer import Token, tokens
from tonnage_griddb.tql.syntax import (
    Binary,
    Call,
    Expression,
    IsNull,
    Like,
    Name,
    Null,
    Number,
    Order,
    Query,
    Star,
    Text,
    Truth,
    Unary,
)

_COMPARISONS = ("=", "==", "<>", "!=", "<", "<=", ">", ">=")
_SAME = {"==": "=", "!=": "<>"}
_ABSENT = {
    "GROUP": "GROUP BY: ask for one aggregation for each condition, by fetch_all in one call",
    "HAVING": "HAVING",
    "DISTINCT": "DISTINCT",
    "JOIN": "JOIN: use Tonnage's SQL, Store.sql of the package tonnage",
    "FOR": "FOR UPDATE: say fetch(True)",
    "BETWEEN": "BETWEEN: write 'a >= x AND a <= y'",
    "IN": "IN: write 'a = x OR a = y', or use multi_get",
}
# Each level takes several of the 1,000 calls that Python nests.
DEPTH_MAX = 50


def parse(text: str) -> Query:
    """A query out of its text."""
    if not isinstance(text, str):
        raise GSException(f"{text!r} is not a query: give a text in TQL", Code.ILLEGAL_PARAMETER)
    return _Parser(tokens(text)).query()


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0
        self._depth = 0

    # The query

    def query(self) -> Query:
        explain = ""
        if self._takes_word("EXPLAIN"):
            explain = "EXPLAIN ANALYZE" if self._takes_word("ANALYZE") else "EXPLAIN"
        if not self._takes_word("SELECT"):
            raise self._expected("SELECT")
        function, columns = self._selection()
        source = self._source() if self._takes_word("FROM") else None
        where = self._condition() if self._takes_word("WHERE") else None
        order = self._order()
        limit, offset = self._limit()
        self._takes_sign(";")
        if self._next.kind != "end":
            raise self._expected("the end of the query")
        return Query(explain, function, columns, source, where, order, limit, offset)

    def _selection(self) -> tuple[Call | None, tuple[str, ...] | None]:
        if self._takes_sign("*"):
            return None, None
        if self._next.kind == "name" and self._tokens[self._at + 1].is_sign("("):
            call = self._value()
            assert isinstance(call, Call)
            if self._next.is_sign(","):
                raise GSException(
                    f"TQL, position {self._next.position}: one function for a query: ask for "
                    "the others by queries of their own, with fetch_all in one call",
                    Code.TQL_SYNTAX,
                )
            return call, None
        columns = [self._column()]
        while self._takes_sign(","):
            columns.append(self._column())
        return None, tuple(columns)

    def _source(self) -> str:
        if self._next.kind not in ("name", "quoted"):
            raise self._expected("the name of the container")
        return self._take().text

    def _order(self) -> tuple[Order, ...]:
        if not self._takes_word("ORDER"):
            return ()
        if not self._takes_word("BY"):
            raise self._expected("BY")
        order = [self._ordering()]
        while self._takes_sign(","):
            order.append(self._ordering())
        return tuple(order)

    def _ordering(self) -> Order:
        column = self._column()
        if self._takes_word("DESC"):
            return Order(column, True)
        self._takes_word("ASC")
        return Order(column, False)

    def _limit(self) -> tuple[int | None, int]:
        if not self._takes_word("LIMIT"):
            return None, 0
        limit = self._whole()
        return limit, self._whole() if self._takes_word("OFFSET") else 0

    def _whole(self) -> int:
        if self._next.kind != "number" or not self._next.text.isdigit():
            raise self._expected("a whole number of rows")
        return int(self._take().text)

    def _column(self) -> str:
        if self._next.kind not in ("name", "quoted") or self._next.is_word("FROM", "WHERE"):
            raise self._expected("the name of a column")
        return self._take().text

    # Expressions

    def _condition(self) -> Expression:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise GSException(
                f"TQL, position {self._next.position}: parentheses are more than {DEPTH_MAX} deep",
                Code.TQL_SYNTAX,
            )
        left = self._conjunction()
        while self._next.is_word("OR", "XOR"):
            sign = self._take().text.upper()
            left = Binary(sign, left, self._conjunction())
        self._depth -= 1
        return left

    def _conjunction(self) -> Expression:
        left = self._negation()
        while self._takes_word("AND"):
            left = Binary("AND", left, self._negation())
        return left

    def _negation(self) -> Expression:
        is_negated = False
        while self._takes_word("NOT"):
            is_negated = not is_negated
        operand = self._comparison()
        return Unary("NOT", operand) if is_negated else operand

    def _comparison(self) -> Expression:
        left = self._sum()
        while True:
            if self._next.is_sign(*_COMPARISONS):
                sign = self._take().text
                left = Binary(_SAME.get(sign, sign), left, self._sum())
            elif self._takes_word("IS"):
                is_negated = self._takes_word("NOT")
                if not self._takes_word("NULL"):
                    raise self._expected("NULL")
                left = IsNull(left, is_negated)
            elif self._next.is_word("LIKE") or (
                self._next.is_word("NOT") and self._tokens[self._at + 1].is_word("LIKE")
            ):
                is_negated = self._takes_word("NOT")
                self._take()
                pattern = self._sum()
                escape = self._sum() if self._takes_word("ESCAPE") else None
                left = Like(left, pattern, escape, is_negated)
            else:
                return left

    def _sum(self) -> Expression:
        left = self._product()
        while self._next.is_sign("+", "-"):
            sign = self._take().text
            left = Binary(sign, left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._signed()
        while self._next.is_sign("*", "/", "%"):
            sign = self._take().text
            left = Binary(sign, left, self._signed())
        return left

    def _signed(self) -> Expression:
        is_negative = False
        while self._next.is_sign("-", "+"):
            is_negative ^= self._take().text == "-"
        operand = self._value()
        return Unary("-", operand) if is_negative else operand

    def _value(self) -> Expression:
        token = self._next
        if token.kind == "number":
            return Number(self._take().text)
        if token.kind == "text":
            return Text(self._take().text)
        if token.kind == "quoted":
            return Name(self._take().text)
        if self._takes_sign("("):
            inner = self._condition()
            if not self._takes_sign(")"):
                raise self._expected("')'")
            return inner
        if token.kind != "name":
            raise self._expected("a value")
        self._take()
        if self._next.is_sign("("):
            return Call(token.text.upper(), self._arguments())
        if token.is_word("TRUE", "FALSE"):
            return Truth(token.is_word("TRUE"))
        if token.is_word("NULL"):
            return Null()
        return Name(token.text)

    def _arguments(self) -> tuple[Expression, ...]:
        self._take()
        if self._takes_sign(")"):
            return ()
        arguments = [self._argument()]
        while self._takes_sign(","):
            arguments.append(self._argument())
        if not self._takes_sign(")"):
            raise self._expected("',' or ')'")
        return tuple(arguments)

    def _argument(self) -> Expression:
        return Star() if self._takes_sign("*") else self._condition()

    # Tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _takes_word(self, word: str) -> bool:
        if self._next.is_word(word):
            self._at += 1
            return True
        return False

    def _takes_sign(self, sign: str) -> bool:
        if self._next.is_sign(sign):
            self._at += 1
            return True
        return False

    def _expected(self, what: str) -> GSException:
        token = self._next
        absent = _ABSENT.get(token.text.upper()) if token.kind == "name" else None
        if absent:
            told = f"TQL, position {token.position}: TQL has no {absent}"
        else:
            found = token.text if token.kind == "end" else f"'{token.text}'"
            told = f"TQL, position {token.position}: expected {what}, found {found}"
        return GSException(told, Code.TQL_SYNTAX)
