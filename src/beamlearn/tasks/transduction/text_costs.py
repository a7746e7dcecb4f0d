"""Costs of outputs as texts: what roll-outs are judged by."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

from ...check import unknown
from ...search.output_cost import checked_cost
from ...training.settings import SettingsError
from .cost_names import PREFIX

TextCost = Callable[[str, str], float]
"""What an output costs by one reference, both as text; a right output costs 0."""


def chrf_cost(output: str, reference: str) -> float:
    """1 - chrF, between 0 and 1.

    >>> chrf_cost("the dog", "the dog")
    0.0
    """
    return 1 - float(sentence_chrf().sentence_score(output, [reference]).score) / 100


def bleu_cost(output: str, reference: str) -> float:
    """1 - BLEU of the sentence, of as many n-grams as it has.

    >>> abs(bleu_cost("the dog barks", "the dog barks")) < 1e-9
    True
    """
    return 1 - float(sentence_bleu().sentence_score(output, [reference]).score) / 100


def rouge_cost(output: str, reference: str) -> float:
    """1 - F1 of ROUGE-L."""
    return 1 - float(rouge_scorer().score(reference, output)["rougeL"].fmeasure)


def exact_cost(output: str, reference: str) -> float:
    """0 for the reference, 1 for anything else.

    >>> exact_cost("dog", "dog"), exact_cost("dog", "god")
    (0.0, 1.0)
    """
    return float(output != reference)


TEXT_COSTS: dict[str, TextCost] = {
    "chrf": chrf_cost,
    "bleu": bleu_cost,
    "rouge-l": rouge_cost,
    "exact": exact_cost,
}
"""By their names."""


def text_cost_named(name: str) -> TextCost:
    """The cost after `rollout:`: one of `TEXT_COSTS`, or a function as MODULE:FUNCTION."""
    if name == "rouge-l":
        rouge_scorer()  # to say now if it is not installed
    if name in TEXT_COSTS:
        return TEXT_COSTS[name]
    module, colon, function = name.partition(":")
    if not colon:
        raise SettingsError(
            f"{unknown(TEXT_COSTS, name, 'cost of roll-outs')} A function of your own is named "
            "as in `cost` = rollout:module:function."
        )
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            f"`cost` = {PREFIX}{name} must name a function that can be imported, but {error}; "
            "check the name, or run the command where the module is."
        ) from error
    if not callable(found):
        raise SettingsError(
            f"`cost` = {PREFIX}{name} must name a function of an output and a reference, got "
            f"{found!r:.60}."
        )
    return found  # type: ignore[no-any-return]  # nobody knows what it returns


def nearest_cost(cost: TextCost, text: Callable[[Any], str], example: Any, output: Any) -> float:
    """What an output costs by the nearest of an example's references.

    If the metric fails, the error has both as texts, by which the example can be found.
    """
    written = text(output)
    return min(
        checked_cost(cost, written, right, f"for the output {written!r:.80} of {right!r:.80}")
        for right in example.texts
    )


def cost_of_outputs(name: str, text: Callable[[Sequence[int]], str]) -> Callable[..., float]:
    """The cost of a named metric, as a function of examples and outputs in numbers."""
    return partial(nearest_cost, text_cost_named(name), text)


@cache
def sentence_chrf() -> Any:
    """chrF of sacrebleu."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


@cache
def sentence_bleu() -> Any:
    """BLEU of sacrebleu, for sentences that may be shorter than four words."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


@cache
def rouge_scorer() -> Any:
    """That of the package rouge-score."""
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise SettingsError(
            f"`cost` = {PREFIX}rouge-l needs the package rouge-score, which cannot be imported "
            f"({error}); run `pip install 'beamlearn[rouge]'`."
        ) from error
    return RougeScorer(["rougeL"])
