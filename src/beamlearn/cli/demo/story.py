"""The story: read, train twice, compare, look at one utterance, and say where things are."""

import json
from pathlib import Path

from rich.console import Console

from ...data.hkcancor import read_hkcancor
from ...data.text import write_text
from ...reports.figure_file import check_matplotlib
from ...tasks.experiment import load
from ...tasks.tagging.sentences import TaggedSentences
from ...tasks.tagging.task import TAGGING
from .conversations import CREDIT, PARTS, check_own, split, spoken, write_parts
from .example import choose, tally
from .figure import draw
from .measured import WIDTHS, measure_all, one_thread
from .plan import BEAM, LIKELIHOOD, TITLES, WIDTH, plan
from .trainings import TrainingBoard, train_together
from .wording import conclude, describe_example, introduce, results, say, sum_up

QUICK = {"train": 40, "dev": 10, "test": 10}
"""How many utterances a quick demo has."""


def run_demo(
    console: Console, out: Path, *, epochs: int = 5, seed: int = 0, quick: bool = False
) -> None:
    """Train a network twice on Cantonese conversations and tell what the beam changes.

    Everything is written into the folder `out`: the data, two run folders, the numbers and a
    figure. Interrupted and called again it goes on; what is trained is not trained again. With
    `quick=True` there is next to no data, and one epoch: for tests.
    """
    check_matplotlib()
    check_own(out)
    epochs = 1 if quick else epochs
    parts, recordings = read_parts(quick)
    jobs = plan(out, len(parts["train"]), epochs=epochs, seed=seed)
    introduce(console, parts, recordings, epochs)
    write_parts(parts, out)
    if all(job.finished for job in jobs.values()):
        say(console, f"Both are trained already; remove {out} to train again.")
    else:
        length = sum(map(len, parts["dev"].words)) / len(parts["dev"])
        train_together(jobs, TrainingBoard(console, jobs, length))
    taggers = {name: load(TAGGING, job.folder)[0] for name, job in jobs.items()}
    with console.status("testing"), one_thread():
        found = measure_all(taggers, parts["test"])
        late, trained = (found[name, WIDTH].labels for name in (LIKELIHOOD, BEAM))
        example = choose(
            parts["test"], (taggers[LIKELIHOOD], late), (taggers[BEAM], trained), WIDTH
        )
        counts = tally(parts["test"], late, trained)
    console.print(results(found))
    sum_up(console, found)
    describe_example(console, example, counts)
    draw({TITLES[n]: {w: found[n, w].accuracy for w in WIDTHS} for n in taggers}, out)
    numbers = {
        "data": CREDIT,
        "recordings": recordings,
        "seed": seed,
        "epochs": epochs,
        "results": [measured.to_json() for measured in found.values()],
        "example": example.to_json(),
    }
    text = json.dumps(numbers, indent=1, ensure_ascii=False)
    write_text(out / "results.json", f"{text}\n")
    conclude(console, out)


def read_parts(quick: bool) -> tuple[dict[str, TaggedSentences], dict[str, list[str]]]:
    """The utterances of each part, and the names of its recordings."""
    corpus = read_hkcancor()
    recordings = split(corpus)
    parts = {
        part: spoken(
            (utterance for name in recordings[part] for utterance in corpus[name]),
            QUICK[part] if quick else None,
        )
        for part in PARTS
    }
    return parts, recordings
