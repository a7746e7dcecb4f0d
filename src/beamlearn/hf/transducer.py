"""A Hugging Face model as a model of transduction, for all commands that there are for these."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, final

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..learning.iterates import Mixture
from ..search.oracle import Oracle
from ..search.output_cost import Cost
from ..search.rollout import RolloutOracle
from ..tasks.transduction.cost_names import PREFIX
from ..tasks.transduction.settings import TransducerSettings
from ..tasks.transduction.space import TransductionExample
from ..tasks.transduction.text_costs import cost_of_outputs
from ..training.settings import SettingsError
from .costs import NO_LABEL, TokenCosts
from .model_files import ModelFiles
from .pretrained import Pretrained
from .rules import plain_rules_of
from .space import HuggingFaceSpace
from .token_symbols import TokenSymbols
from .trainable_scorer import TrainableScorer

UNLIMITED = 10**9
"""What a tokenizer says that knows of no limit is larger."""


def adapted(settings: TransducerSettings, device: str) -> "HuggingFaceTransducer":
    """The model in the folder that the settings name."""
    assert settings.hf is not None
    return HuggingFaceTransducer(settings, Pretrained.read(settings.hf), device)


def rebuilt(
    settings: TransducerSettings, vocabulary: Mapping[str, Any], device: str
) -> "HuggingFaceTransducer":
    """The same from what `vocabulary` gave, with random weights."""
    pretrained = Pretrained.from_files(ModelFiles.from_json(vocabulary))
    return HuggingFaceTransducer(settings, pretrained, device)


GREEDY = {"length_penalty": None, "early_stopping": None}
"""What greedy search ignores; transformers refuses a generation config that sets it."""


@final
class HuggingFaceTransducer:
    """An encoder-decoder, which is given sources, or a causal model, which goes on after them.

    Actions are token ids. Outputs are searched by the rules of the model itself: any token may come
    next, and an end token ends an output. What else its generation config asks for is left to
    `generate`.
    """

    def __init__(self, settings: TransducerSettings, pretrained: Pretrained, device: str) -> None:
        self.settings, self.pretrained, self.device = settings, pretrained, torch.device(device)
        self.mixture: Mixture | None = None
        self.rules = plain_rules_of(pretrained.model, 1)
        if not self.rules.ends:
            raise SettingsError(
                "`hf` must name a model with a token that ends an output, but its generation "
                "config has no eos_token_id; set it there."
            )
        self.symbols = TokenSymbols(pretrained.tokenizer, self.rules.vocabulary)
        edits = settings.insertion, settings.deletion, settings.substitution
        exact = "edit" if settings.rolls_out else settings.cost
        self.costs = TokenCosts(exact, pretrained.tokenizer, edits=edits)
        self.scorer = TrainableScorer(pretrained.model).to(device)
        self.scorer.accumulate, self.scorer.normalize = settings.accumulate, settings.normalization
        self.scorer.length_power = settings.length_power
        self.scorer.length_bonus = settings.length_bonus

    def vocabulary(self) -> dict[str, Any]:
        """The files of the model and its tokenizer, for vocabulary.json."""
        return self.pretrained.files().to_json()

    def encode(self, source: str, references: Sequence[str] = ()) -> TransductionExample:
        """A source in token ids, with its right outputs if they are known."""
        tokens = self.pretrained.tokenizer(source, verbose=False)["input_ids"]
        while not self.reads_first and len(tokens) > 1 and tokens[-1] in self.rules.ends:
            tokens = tokens[:-1]  # a causal model goes on where its prompt has not ended
        return TransductionExample(
            torch.tensor(tokens or [self.rules.ends[0]]),
            tuple(self._reference(text) for text in references),
            tuple(references) if self.settings.rolls_out else (),
        )

    def _reference(self, text: str) -> Tensor:
        """A right output as the model is to write it, up to its end."""
        tokens: list[int] = self.pretrained.tokenizer(
            text_target=text, add_special_tokens=self.reads_first, verbose=False
        )["input_ids"]
        ends = [place for place, token in enumerate(tokens) if token in self.rules.ends]
        return torch.tensor(tokens[: min(ends, default=len(tokens))], dtype=torch.long)

    @property
    def reads_first(self) -> bool:
        """Is it an encoder-decoder?"""
        return bool(self.pretrained.model.config.is_encoder_decoder)

    def limit(self, source: TransductionExample) -> int:
        """How many tokens its outputs have at most, without the end."""
        limit = int(round(self.settings.length_factor * len(source), 6))
        possible = self.longest_output(source)
        limit += self.settings.length_extra
        return limit if possible is None else min(limit, possible)

    @cached_property
    def longest_source(self) -> int | None:
        """What its tokenizer or its places allow; after a prompt there has to be one more."""
        places = self._places("encoder")
        found = [] if places is None else [places - (not self.reads_first)]
        declared = self.pretrained.tokenizer.model_max_length
        return min([*found, *([declared] if declared < UNLIMITED else [])], default=None)

    def longest_output(self, source: TransductionExample) -> int | None:
        """As many as it has places for, of which the end needs none."""
        places = self._places("decoder")
        if places is None:
            return None
        return places - 1 if self.reads_first else places - len(source)

    def _places(self, part: str) -> int | None:
        config = self.pretrained.model.config
        usual = getattr(config, "max_position_embeddings", None)
        places: int | None = getattr(config, f"max_{part}_position_embeddings", usual)
        return places

    @property
    def vectors(self) -> int:
        """How many numbers it keeps for a symbol."""
        config = self.pretrained.model.config
        return int(config.hidden_size * config.num_hidden_layers)

    @property
    def keeps_past(self) -> bool:
        """It keeps as many for each token of a hypothesis."""
        return True

    def space(self, batch: Sequence[TransductionExample]) -> HuggingFaceSpace:
        """The search space of a batch."""
        limits = torch.tensor([self.limit(example) + 1 for example in batch])  # the end is a token
        sources = [example.source for example in batch]
        padded = pad_sequence(sources, batch_first=True, padding_value=max(self.rules.padding, 0))
        mask = pad_sequence([torch.ones_like(source) for source in sources], batch_first=True)
        known = all(example.references for example in batch)
        return HuggingFaceSpace(
            padded.to(self.device),
            mask.to(self.device),
            self.rules,
            limits=limits.to(self.device),
            finish=self.settings.finish,
            costs=self._oracle(batch) if known else None,
            names=self.symbols.names,
            inputs=batch,
        )

    def _oracle(self, batch: Sequence[TransductionExample]) -> Callable[[HuggingFaceSpace], Oracle]:
        """What makes the oracle of a space."""
        exact = self.costs.of(self._labels(batch).to(self.device))
        if not self.settings.rolls_out:
            return exact
        return lambda _: RolloutOracle(self.cost_of_outputs, reference=exact)

    @cached_property
    def cost_of_outputs(self) -> Cost:
        """What whole outputs cost, where only that is known."""
        return cost_of_outputs(self.settings.cost.removeprefix(PREFIX), self.text)

    def _labels(self, batch: Sequence[TransductionExample]) -> Tensor:
        """All references with their ends, as `TokenCosts` takes them."""
        several = max(len(example.references) for example in batch)
        end, nothing = torch.tensor(self.rules.ends[:1]), torch.zeros(0, dtype=torch.long)
        rows = [
            row
            for example in batch
            for row in (
                *(torch.cat([one, end]) for one in example.references),
                *[nothing] * (several - len(example.references)),
            )
        ]
        padded = pad_sequence(rows, batch_first=True, padding_value=NO_LABEL)
        return padded.view(len(batch), several, -1)

    def text(self, tokens: Sequence[int]) -> str:
        """An output as text."""
        return self.symbols.target.join(self.symbols.spell(tokens))

    def export(self, folder: Path, width: int) -> None:
        """Write a folder that transformers loads, and that `generate` searches with this width."""
        beams = {"length_penalty": self.settings.length_power} if width > 1 else GREEDY
        self.pretrained.write(folder, {"num_beams": width, **beams})
