"""SQL in notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tonnage

pytest.importorskip("pyarrow")
testing = pytest.importorskip("IPython.testing.globalipapp")


@pytest.fixture(scope="module")
def shell() -> Any:
    return testing.start_ipython() or testing.get_ipython()


@pytest.fixture
def store(shell: Any) -> Iterator[tonnage.Store]:
    shell.run_line_magic("load_ext", "tonnage")
    store = shell.run_line_magic("tonnage", "memory:")
    yield store
    store.close()


def test_a_cell_shows_its_rows_and_keeps_them(shell: Any, store: tonnage.Store) -> None:
    made = shell.run_cell_magic("tonnage", "", "CREATE TABLE t (k LONG, s STRING, PRIMARY KEY (k))")
    assert made == "created table t"
    store.table("t").bulk_put({"k": k, "s": "<b>" if k == 1 else None} for k in range(30))
    shell.user_ns["smallest"] = 1
    shown = shell.run_cell_magic(
        "tonnage", "found", "SELECT * FROM t WHERE k >= :smallest ORDER BY k"
    )
    assert shell.user_ns["found"].num_rows == 29
    html = shown._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html
    assert "29 rows, 9 not shown" in html and "NULL" in html


def test_a_store_that_is_open_is_used(shell: Any, store: tonnage.Store) -> None:
    with tonnage.connect("memory:") as other:
        shell.user_ns["other"] = other
        assert shell.run_line_magic("tonnage", "other") is other


def test_a_cell_without_a_store_says_what_to_do(shell: Any, store: tonnage.Store) -> None:
    store.close()
    with pytest.raises(tonnage.InvalidRequest, match="%tonnage"):
        shell.run_cell_magic("tonnage", "", "SELECT 1")


def test_the_notebook_of_the_examples_runs_and_has_its_outputs(shell: Any) -> None:
    pytest.importorskip("polars")
    path = Path(__file__).parent.parent / "examples" / "fleet.ipynb"
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert sum(bool(cell["outputs"]) for cell in cells) >= 6
    for cell in cells:
        shell.run_cell("".join(cell["source"])).raise_error()
