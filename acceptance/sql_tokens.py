"""A text of SQL as tokens, enough to find tables and types in it. Joined they are the text."""

import re

TOKEN = re.compile(r"""
    (?P<blank>\s+|--[^\n]*|/\*.*?\*/)
  | (?P<text>[eExXbB]?'(?:[^']|'')*'|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<word>[^\W\d]\w*)
  | (?P<number>\d[\w.]*)
  | (?P<sign>::|:=|->>|->|=>|<>|<=|>=|!=|\|\||.)
""", re.X | re.S)


class Token:
    def __init__(self, kind, text, spaced=False):
        self.kind, self.text, self.spaced = kind, text, spaced
        self.word = text.upper() if kind == "word" else None

    @property
    def name(self):
        """The name that a word or a quoted word gives, in lower case."""
        if self.kind == "quoted":
            return self.text[1:-1].replace('""', '"').lower()
        return self.text.lower() if self.kind == "word" else None


def tokens(sql):
    parts, spaced = [], False
    for found in TOKEN.finditer(sql):
        kind = "text" if found.lastgroup == "tag" else found.lastgroup
        parts.append(Token(kind, found[0], spaced))
        spaced = kind == "blank"
    return parts


def joined(parts):
    return "".join(part.text for part in parts)


def spaced(parts):
    """Tokens without blanks and comments as text: a blank stands where one or a comment stood."""
    return "".join(" " * part.spaced + part.text for part in parts if part.kind != "blank").strip()


def solid(parts):
    """Without blanks and comments."""
    return [part for part in parts if part.kind != "blank"]


def split(parts, sign):
    """The parts between signs that stand in no parentheses and no brackets of `STRUCT<...>`."""
    depth, angles, pieces, before = 0, 0, [[]], None
    for part in parts:
        if part.text in "([{" and part.kind == "sign":
            depth += 1
        elif part.text in ")]}" and part.kind == "sign":
            depth -= 1
        elif part.text == "<" and before in ("STRUCT", "ARRAY", "MAP"):
            angles, depth = angles + 1, depth + 1
        elif part.text == ">" and angles:
            angles, depth = angles - 1, depth - 1
        before = part.word if part.kind != "blank" else before
        if part.text == sign and part.kind == "sign" and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(part)
    return pieces


def closing(parts, opening):
    """Where the parenthesis at `opening` ends."""
    depth = 0
    for at in range(opening, len(parts)):
        if parts[at].kind == "sign":
            depth += parts[at].text in "([{"
            depth -= parts[at].text in ")]}"
            if depth == 0:
                return at
    return len(parts) - 1


def statements(sql):
    """The statements of a text, without empty ones."""
    pieces = split(tokens(sql), ";")
    return [joined(piece).strip() for piece in pieces if solid(piece)]
