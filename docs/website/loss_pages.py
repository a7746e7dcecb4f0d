"""A page for each loss: its equation, its properties, and its curve."""

from collections.abc import Iterator
from inspect import getdoc, signature

from figures.loss_curves import COSTS, SCORES, WIDTH, loss_figure

from beamlearn import losses

from .rst import (
    first_sentence,
    from_docstring,
    heading,
    is_equation,
    literal,
    paragraphs,
    table,
    toctree,
)

NEEDS = {"costs": "the cost of every neighbor", "best": "only which neighbor is cheapest"}


def numbered(name: str) -> str:
    """The number of the equation, as the docstring gives it."""
    return equations(name)[0].split(")")[0] + ")"


def equations(name: str) -> list[str]:
    """The equations of a loss, as they are in its docstring."""
    return [part for part in paragraphs(getdoc(losses.LOSSES[name]) or "") if is_equation(part)]


def shown_signature(name: str) -> str:
    """How the loss is called, without the types."""
    parts = signature(losses.LOSSES[name])
    bare = [one.replace(annotation=one.empty) for one in parts.parameters.values()]
    return str(parts.replace(parameters=bare, return_annotation=parts.empty))


def numbers(values: tuple[float, ...]) -> str:
    """Numbers in a row."""
    return ", ".join(f"{value:g}" for value in values)


def loss_page(name: str) -> str:
    """The page of a loss."""
    loss = losses.LOSSES[name]
    first, *rest = paragraphs(getdoc(loss) or "")
    facts = [
        ("where", f"{numbered(name)} of the paper"),
        ("convex in the scores", "yes" if loss.convex else "no"),
        ("bounds the cost of the transition", "yes" if loss.bounds_cost else "no"),
        ("needs", NEEDS[loss.needs]),
    ]
    return "\n\n".join(
        [
            heading(name),
            from_docstring(first),
            literal("\n".join(equations(name))),
            table(("property", "here"), facts),
            from_docstring("\n\n".join(part for part in rest if not is_equation(part))),
            heading("Its curve", "-"),
            f"Five neighbors with scores {numbers(SCORES)} and costs {numbers(COSTS)}, of which "
            f"{WIDTH} stay in the beam. One of the scores moves, and the others stay as they are.",
            f".. drawing:: _generated/{name}.svg\n",
            heading("In Python", "-"),
            f".. py:function:: beamlearn.losses.{name}{shown_signature(name)}\n",
            "``scores`` and ``costs`` are tensors of shape ``batch n``, ``width`` is a number or "
            "one for each row, and ``mask`` is True where there is a neighbor. The result has a "
            "number for each row. To train with it, pass "
            f'``loss="{name}"`` to :py:func:`beamlearn.learn`, or ``--loss {name}`` to '
            "``beamlearn train``.",
        ]
    )


def index_page() -> str:
    """All losses in one table and one figure."""
    rows = [
        (
            f":doc:`{name} <{name}>`",
            numbered(name),
            "yes" if loss.convex else "",
            "yes" if loss.bounds_cost else "",
            "costs" if loss.needs == "costs" else "cheapest",
            first_sentence(getdoc(loss) or ""),
        )
        for name, loss in losses.LOSSES.items()
    ]
    return "\n\n".join(
        [
            heading("Losses"),
            "Twelve functions of the scores and costs of a beam's neighbors stand for the cost of "
            "a transition, which itself has no useful gradient.",
            table(
                ("loss", "equation", "convex", "bounds the cost", "needs", "what it asks for"), rows
            ),
            ".. drawing:: figures/losses.svg\n",
            "How losses of your own are declared is on the page :doc:`../losses`.",
            toctree(losses.LOSSES),
        ]
    )


def pages() -> Iterator[tuple[str, str]]:
    """Every page and figure: its place on the site, and its text."""
    yield "reference/losses/index.rst", index_page()
    for name in losses.LOSSES:
        yield f"reference/losses/{name}.rst", loss_page(name)
        yield f"_generated/{name}.svg", loss_figure(name)
