"""Outputs of transducers that match a pattern."""

from collections.abc import Callable

from ...check import UsageError
from ...data.pairs import Pair
from ...search.automaton import Automaton
from .space import END
from .tokens import Characters, Words
from .transduction_model import TransductionModel


def matching(model: TransductionModel, pattern: str | None) -> Automaton | None:
    """The outputs whose tokens match a pattern, as a constraint; None: any do."""
    if pattern is None:
        return None
    target = model.symbols.target
    if not isinstance(target, Characters | Words):
        raise UsageError(
            "`pattern` needs a transducer whose target tokens are characters or words, got one of "
            f"{type(target).__name__} tokens; leave it out.",
            "pattern",
        )
    symbols = ("", *model.symbols.target_tokens)  # the first one is `END`
    found = Automaton.from_regex(pattern, symbols, words=isinstance(target, Words))
    return found.ended_by(END).to(next(model.scorer.parameters()).device)


def roomy(
    model: TransductionModel,
    constraint: Automaton | None,
    pair: Pair,
    name: str,
    refuse: Callable[[str], None],
) -> bool:
    """Is there room for an output that matches? If not, `refuse` hears of it."""
    limit = model.limit(model.encode(pair.source))
    if constraint is None or constraint.shortest <= limit + 1:
        return True
    refuse(
        f"{name}:{pair.line}: The output may have {limit} tokens, but the shortest one that "
        f"matches `pattern` has {constraint.shortest - 1}; change `pattern`, or remove the source."
    )
    return False
