"""SQL in notebooks: `%load_ext tonnage`, then `%tonnage TARGET` and `%%tonnage`.

    %load_ext tonnage
    %tonnage fleet

    %%tonnage latest
    SELECT ship, max(at) AS at FROM positions WHERE ship > :smallest GROUP BY ship

A cell shows its rows as a table, and keeps them as a pyarrow table under the name behind
`%%tonnage`, if there is one. `:name` stands for a variable of the notebook.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

import tonnage
from tonnage.result import Result

if TYPE_CHECKING:
    import pyarrow

ROWS_SHOWN = 20
_open: dict[str, tonnage.Store] = {}
_current: list[tonnage.Store] = []


class Rows:
    """Rows of a cell: shown as a table, and taken by whatever takes Arrow."""

    def __init__(self, table: pyarrow.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"{self.table.num_rows} rows\n{self.table.slice(0, ROWS_SHOWN)}"

    def _repr_html_(self) -> str:
        names = "".join(f"<th>{escape(name)}</th>" for name in self.table.column_names)
        shown = self.table.slice(0, ROWS_SHOWN).to_pylist()
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{escape(_shown(value))}</td>" for value in row.values())
            + "</tr>"
            for row in shown
        )
        more = self.table.num_rows - len(shown)
        foot = f"<p>{self.table.num_rows} rows{f', {more} not shown' if more else ''}</p>"
        return f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>{foot}"


def _shown(value: Any) -> str:
    return "NULL" if value is None else str(value)


def use(target: str | tonnage.Store) -> tonnage.Store:
    """Let the cells that follow work on this store: a path, an address, or one that is open."""
    if isinstance(target, tonnage.Store):
        store = target
    else:
        known = _open.get(target)
        store = known if known is not None and not known.is_closed else tonnage.connect(target)
        _open[target] = store
    _current[:] = [store]
    return store


def run(text: str, variables: dict[str, Any]) -> Result:
    """Run a statement on the store of the cells, with `:name` out of these variables."""
    if not _current or _current[0].is_closed:
        raise tonnage.InvalidRequest("no store is open: say %tonnage and the path of one first")
    names = dict.fromkeys(re.findall(r"(?<![:\w]):([A-Za-z_]\w*)", text))
    values = {name: variables[name] for name in names if name in variables}
    return _current[0].sql(text, values or None)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext tonnage`."""

    def magic(line: str, cell: str | None = None) -> Rows | str | tonnage.Store | None:
        """%tonnage TARGET opens a store; %%tonnage [NAME] runs SQL on it."""
        if cell is None:
            target = line.strip()
            found = shell.user_ns.get(target)
            return use(found if isinstance(found, tonnage.Store) else target or "memory:")
        result = run(cell, shell.user_ns)
        if not result.has_rows:
            return result.message or str(result.changes)
        rows = Rows(result.arrow())
        name = line.strip()
        if name:
            shell.user_ns[name] = rows.table
        return rows

    shell.register_magic_function(magic, "line_cell", "tonnage")
