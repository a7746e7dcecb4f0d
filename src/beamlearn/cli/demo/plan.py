"""What the demo trains: one network, twice, the same but for the algorithm."""

from pathlib import Path

from ...learning.ramp import Ramp
from ...tasks.tagging.settings import TaggerSettings, TaggingExperiment, TaggingFiles
from ...training.settings import Learning
from .conversations import file_of
from .trainings import Job

WIDTH = 8
START = 0.5
"""The beam joins in the second half, so that the demo takes two minutes."""
NETWORK = TaggerSettings(
    context="streaming",
    min_count=2,
    word_size=64,
    affix_length=0,
    history="lstm",
    history_size=128,
    tag_size=32,
    dropout=0.1,
)
"""What matters is spelled out: better defaults elsewhere do not change the story."""
LIKELIHOOD, BEAM = "likelihood", "beam"
ALGORITHMS = {LIKELIHOOD: "log_likelihood", BEAM: "joint"}
TITLES = {LIKELIHOOD: "by likelihood", BEAM: "with the beam"}
"""How each was trained."""


def plan(out: Path, utterances: int, *, epochs: int, seed: int) -> dict[str, Job]:
    """The two trainings on so many utterances; refuse a folder in which others were begun."""
    train, dev = (str(file_of(part, out).absolute()) for part in ("train", "dev"))
    jobs = {}
    for name, algorithm in ALGORITHMS.items():
        learning = Learning(
            algorithm=algorithm,
            width=Ramp.parse(WIDTH if name == BEAM else 1),
            beam_start=START if name == BEAM else 0.0,
            epochs=epochs,
            batch_size=64,
            learning_rate=1e-2,
            schedule="linear",
            clip=5.0,
            patience=None,
            seed=seed,
        )
        experiment = TaggingExperiment(
            data=TaggingFiles(train=train, dev=dev, column="2"), tagger=NETWORK, learning=learning
        )
        rounds = -(-utterances // learning.batch_size) * epochs
        jobs[name] = Job(TITLES[name], experiment, out / name, rounds)
        jobs[name].check()
    return jobs
