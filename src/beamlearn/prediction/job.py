"""What every process that answers windows has to know; it holds nothing but text and numbers."""

from dataclasses import dataclass

from ..data.windows import Unit
from ..tasks.task import Answering, PredictionRequest
from ..training.choices import Policy


@dataclass(frozen=True)
class Job:
    """Which model answers, and how."""

    run: str
    """The run folder, which every process must be able to read."""
    device: str
    policy: Policy
    digest: str
    """The fingerprint of the model, so that no process answers with another one."""
    unit: Unit
    answering: Answering
    width: int
    nbest: int
    listing: bool
    sample: bool
    seed: int
    as_json: bool
    options: tuple[tuple[str, str], ...]
    memory: int | None
    """How many bytes one search may need."""
    skipping: bool
    """Put sentences aside that cannot be read?"""

    def request(self) -> PredictionRequest:
        """The same as tasks see it."""
        return PredictionRequest(
            width=self.width,
            nbest=self.nbest,
            listing=self.listing,
            sample=self.sample,
            seed=self.seed,
            as_json=self.as_json,
            options=dict(self.options),
            memory=self.memory,
        )
