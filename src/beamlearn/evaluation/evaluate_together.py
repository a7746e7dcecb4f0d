"""Evaluate with several processes: each decodes some batches, and all know what was found."""

from collections.abc import Sequence
from typing import Any

from ..learning.iterates import join_states, split_states
from ..learning.learn import Task
from ..learning.message import pack, unpack
from ..learning.ranks import Ranks
from ..search.scorer import Scorer
from .evaluate import Evaluation, evaluate, merge_evaluations

COLUMNS = ("costs", "regrets", "increases", "steps_at", "increases_at")
"""What an evaluation without references holds."""


def evaluate_together(
    batches: Sequence[Any],
    task: Task,
    scorer: Scorer,
    width: int,
    *,
    final_width: int = 1,
    ranks: Ranks,
) -> Evaluation:
    """What `evaluate` finds; of `ranks`, each process decodes every so many batches."""
    if ranks.count == 1:
        return evaluate(batches, task, scorer, width, final_width=final_width)
    with ranks.agreeing():
        own = {
            number: evaluate([batches[number]], task, scorer, width, final_width=final_width)
            for number in range(ranks.number, len(batches), ranks.count)
        }
    columns = {n: {name: getattr(one, name) for name in COLUMNS} for n, one in own.items()}
    found = [unpack(message) for message in ranks.gather(pack(join_states(columns)))]
    parts = split_states({name: one for tensors, _ in found for name, one in tensors.items()})
    return merge_evaluations([Evaluation(**part, fates=None) for part in parts.values()])
