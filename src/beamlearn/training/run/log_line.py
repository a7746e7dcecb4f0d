"""What a line of rounds.jsonl holds: a round, or a validation, as training logs them."""

from collections.abc import Mapping
from typing import Any

ROUND = ("round", "width", "loss", "cost", "increases", "on_policy")
"""The numbers of a round, which has `examples`."""
VALIDATION = ("round", "epoch")
"""The numbers of a validation, which has a `validation_cost`."""
EACH = ("losses", "costs", "optima", "steps")
"""The lists of a round that logs single examples; some have `on_policy`, too."""
NUMBERS = {*ROUND, *VALIDATION, "examples", "validation_cost", "validation_loss"}


def fault(record: Mapping[str, Any]) -> str | None:
    """What is wrong with a line; None if nothing is.

    >>> fault({"round": 1, "epoch": "two"})
    "`epoch` must be a number, got 'two'"
    """
    needed = ROUND if "examples" in record else VALIDATION if "validation_cost" in record else ()
    if missing := next((name for name in needed if name not in record), None):
        return f"`{missing}` is missing"
    wrong = (name for name, value in record.items() if name in NUMBERS and not is_number(value))
    if (name := next(wrong, None)) is not None:
        return f"`{name}` must be a number, got {record[name]!r:.80}"
    if "validation_cost" in record and not isinstance(record.get("best"), bool):
        return f"`best` must be true or false, got {record.get('best')!r:.80}"
    return fault_of_each(record) if "each" in record else None


def fault_of_each(record: Mapping[str, Any]) -> str | None:
    """What is wrong with the lists of single examples."""
    each = record["each"]
    if not isinstance(each, dict):
        return f"`each` must be an object, got {each!r:.80}"
    for name in (*EACH, *({"on_policy"} & each.keys())):
        values = each.get(name)
        if not isinstance(values, list) or not all(is_number(value, name) for value in values):
            return f"`each.{name}` must be a list of numbers, got {values!r:.80}"
        if len(values) != record.get("examples"):
            return f"`each.{name}` must have a number for each example, got {len(values)}"
    beta = record.get("beta")
    return None if beta is None or is_number(beta) else f"`beta` must be a number, got {beta!r:.80}"


def is_number(value: object, name: str = "") -> bool:
    """Is it a number, or a flag where that is what is logged?"""
    flag = isinstance(value, bool)
    return flag if name == "on_policy" else isinstance(value, int | float) and not flag
