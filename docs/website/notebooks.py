"""Run the cells of notebooks and keep what they print.

`PYTHONPATH=docs python -m website.notebooks docs/tutorials/*.ipynb`
"""

import ast
import json
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    r"""What a cell prints and, if it ends with an expression, what that looks like.

    >>> run_cell("print(1 + 1)", {})
    [{'output_type': 'stream', 'name': 'stdout', 'text': ['2\n']}]
    """
    tree, printed, value = ast.parse(source), StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        lines = text.splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    if value is not None:
        html = getattr(value, "_repr_html_", None)
        data = {"text/plain": [repr(value)]} if html is None else {"text/html": [html()]}
        outputs.append(
            {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data}
        )
    return outputs


def code_cells(notebook: Cell) -> list[Cell]:
    """The cells that can be run."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def refresh(path: Path) -> None:
    """Run a notebook from top to bottom, and keep the outputs in its file."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for cell in code_cells(notebook):
        cell["outputs"] = run_cell("".join(cell["source"]), names)
        cell["execution_count"] = None
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(Path(name))
