"""TQL as tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tonnage_griddb.errors import Code, GSException

_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)
  | (?P<text>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")+")
  | (?P<name>[^\W\d][\w$]*(?:@\w+)?)
  | (?P<sign><>|<=|>=|!=|==|[=<>+\-*/%(),;])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of a query.

    Attributes:
        kind: `number`, `text`, `quoted`, `name`, `sign` or `end`.
        text: as it is written; of text and quoted names what they say.
        position: where it begins, counted from 1.
    """

    kind: str
    text: str
    position: int

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words, which are given in upper case."""
        return self.kind == "name" and self.text.upper() in words

    def is_sign(self, *signs: str) -> bool:
        return self.kind == "sign" and self.text in signs


def tokens(query: str) -> list[Token]:
    """The pieces of a query, with `end` behind them."""
    found: list[Token] = []
    position = 0
    while position < len(query):
        match = _TOKEN.match(query, position)
        if match is None:
            raise GSException(
                f"TQL, position {position + 1}: {query[position]!r} begins nothing that TQL knows",
                Code.TQL_INVALID_TOKEN,
            )
        kind = match.lastgroup or ""
        text = match.group()
        if kind == "text":
            text = text[1:-1].replace("''", "'")
        elif kind == "quoted":
            text = text[1:-1].replace('""', '"')
        if kind != "space":
            found.append(Token(kind, text, position + 1))
        position = match.end()
    found.append(Token("end", "the end", len(query) + 1))
    return found
