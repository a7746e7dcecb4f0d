"""Batches of a Trainer: what a model is given, and what it should write."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from .costs import NO_LABEL
from .reading import flush_right

OF_THE_DECODER = ("labels", "references", "decoder_input_ids", "decoder_attention_mask")
"""What is not for the encoder."""


@dataclass(frozen=True)
class Batch:
    """What a model is given, and the right outputs."""

    inputs: Mapping[str, Tensor]
    """`input_ids`, `attention_mask` and whatever else the model takes."""
    labels: Int[Tensor, "batch length"]
    """What likelihood learns; -100 after the end of each."""
    references: Int[Tensor, "batch refs length"]
    """All right outputs."""

    def __len__(self) -> int:
        return self.labels.shape[0]

    @classmethod
    def for_encoder_decoder(cls, inputs: Mapping[str, Tensor]) -> "Batch":
        """Sources, and labels beside them."""
        labels = _required(inputs, "labels")
        given = {name: value for name, value in inputs.items() if name not in OF_THE_DECODER}
        if "attention_mask" not in given:
            given["attention_mask"] = torch.ones_like(_required(inputs, "input_ids"))
        return cls(given, labels, inputs.get("references", labels[:, None]))

    @classmethod
    def for_causal(cls, inputs: Mapping[str, Tensor]) -> "Batch":
        """Prompts and then outputs in one row; labels are -100 at the prompt."""
        ids, labels = _required(inputs, "input_ids"), _required(inputs, "labels")
        mask = inputs.get("attention_mask", torch.ones_like(ids))
        learned = labels != NO_LABEL
        before = learned.cumsum(dim=-1) == 0
        after = learned.flip(-1).cumsum(dim=-1).flip(-1) == 0
        if bool((~learned & ~before & ~after & (mask > 0)).any()):
            raise ValueError(
                "The labels of a causal model must be one output after one prompt, got -100 amid "
                "them; make an example of each output, with all that comes before it as its prompt."
            )
        prompted = mask * before
        if not bool(prompted.any(dim=-1).all()):
            raise ValueError(
                "Every example of a causal model needs a prompt, got labels from the first token "
                "on; set the labels of the prompt to -100."
            )
        prompts, there = flush_right(ids, prompted)
        # Moving to the right, twice mirrored, is moving to the left.
        mirrored, found = flush_right(labels.flip(-1), learned.flip(-1).long())
        outputs = mirrored.masked_fill(found == 0, NO_LABEL).flip(-1)
        given = {"input_ids": prompts, "attention_mask": there}
        return cls(given, outputs, inputs.get("references", outputs[:, None]))


def _required(inputs: Mapping[str, Tensor], name: str) -> Tensor:
    if name not in inputs:
        raise ValueError(
            f"Training with the beam needs `{name}` in every batch, got {', '.join(inputs)}; have "
            "the dataset and its collator return it."
        )
    return inputs[name]


class WithReferences:
    """A data collator for examples that have several right outputs.

    `references` of an example is a list of lists of token ids, which end as its labels do.
    Everything else goes through the collator that this one is made of.

    >>> collate = WithReferences(lambda rows: {"labels": torch.tensor([r["labels"] for r in rows])})
    >>> collate([{"labels": [5, 1], "references": [[5, 1], [6, 7, 1]]}])["references"].tolist()
    [[[5, 1, -100], [6, 7, 1]]]
    """

    def __init__(self, collator: Callable[[list[dict[str, Any]]], dict[str, Any]]) -> None:
        self.collator = collator

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        if not all("references" in row for row in rows):
            raise ValueError(
                "Every example needs `references`, a list of lists of token ids, got one with "
                f"{', '.join(next(row for row in rows if 'references' not in row))}; add them, or "
                "leave `WithReferences` out."
            )
        others = [{k: v for k, v in row.items() if k != "references"} for row in rows]
        several = max(len(row["references"]) for row in rows)
        nothing: list[int] = []
        lists = [
            torch.tensor(ids, dtype=torch.long)
            for row in rows
            for ids in [*row["references"], *[nothing] * (several - len(row["references"]))]
        ]
        padded = pad_sequence(lists, batch_first=True, padding_value=NO_LABEL)
        collated = dict(self.collator(others))
        return {**collated, "references": padded.view(len(rows), several, -1)}
