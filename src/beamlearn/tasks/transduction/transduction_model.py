"""What every model of transduction has, whoever made its network."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ...learning.iterates import Mixture
from ...search.scorer import Scorer
from ...search.space import SearchSpace
from .settings import TransducerSettings
from .space import TransductionExample
from .tokens import Tokenizer


@runtime_checkable
class KnownSymbols(Protocol):
    """What sources and outputs are made of."""

    @property
    def target(self) -> Tokenizer:
        """What cuts and joins targets."""
        ...

    @property
    def source_symbols(self) -> Sequence[str]:
        """Those that are told apart."""
        ...

    @property
    def target_tokens(self) -> Sequence[str]:
        """Those that can be written."""
        ...

    @property
    def target_numbers(self) -> Mapping[str, int]:
        """Their numbers."""
        ...

    def spell(self, numbers: Sequence[int]) -> list[str]:
        """The tokens of an output, without its end."""
        ...


@runtime_checkable
class TransductionModel(Protocol):
    """A model that turns texts into texts; to `learn` and `evaluate` it is the task."""

    mixture: Mixture | None

    @property
    def settings(self) -> TransducerSettings:
        """What it is made of."""
        ...

    @property
    def symbols(self) -> KnownSymbols:
        """What it reads and writes."""
        ...

    @property
    def scorer(self) -> Scorer:
        """What has the weights."""
        ...

    @property
    def longest_source(self) -> int | None:
        """How many symbols a source may have; None: any number."""
        ...

    @property
    def vectors(self) -> int:
        """How many numbers it keeps for a symbol of the source."""
        ...

    @property
    def keeps_past(self) -> bool:
        """Does it keep as many for each token of a hypothesis, too?"""
        ...

    def vocabulary(self) -> dict[str, Any]:
        """What vocabulary.json holds."""
        ...

    def encode(self, source: str, references: Sequence[str] = ()) -> TransductionExample:
        """A source in numbers, with its right outputs if they are known."""
        ...

    def limit(self, source: TransductionExample) -> int:
        """How many tokens its outputs have at most."""
        ...

    def longest_output(self, source: TransductionExample) -> int | None:
        """How many tokens they could have if the settings allowed it; None: any number."""
        ...

    def space(self, batch: Sequence[TransductionExample]) -> SearchSpace[Any]:
        """The search space of a batch."""
        ...

    def text(self, tokens: Sequence[int]) -> str:
        """An output as text."""
        ...
