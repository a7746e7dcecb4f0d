"""What becomes of arcs that cross? A treebank in which three of ten trees have some.

    python benchmarks/crossing_arcs.py DATA [--out runs/crossing_arcs]

DATA is a folder with `train`, `dev` and `test.conllu.gz` of UD Dutch-LassySmall. One network; the
parser lifts crossing arcs and marks them so that they can be put back (`encode`), lifts them
without marks (`lift`), learns as much of the trees as it can build, with their exact costs
(`keep`), or builds them itself (`covington`). LAS is that of the original trees.
"""

from collections.abc import Iterator
from pathlib import Path

from grid import run_grid

from beamlearn.comparison.runner import Entry
from beamlearn.learning.ramp import Ramp
from beamlearn.tasks.parsing.settings import ParserSettings, ParsingExperiment
from beamlearn.tasks.settings import TextFiles
from beamlearn.training.settings import Learning

ROWS = {
    "encode": ParserSettings(),
    "lift": ParserSettings(crossing="lift"),
    "keep": ParserSettings(crossing="keep"),
    "covington": ParserSettings(system="covington"),
}
COLUMNS = {
    "LAS, greedy": (0, "las"),
    "LAS, beam 4": (1, "las"),
    "UAS, beam 4": (1, "uas"),
    "trees": (1, "tree_accuracy"),
    "unavoidable errors": (1, "optimum"),
}


def entries(data: Path, _: Path) -> Iterator[Entry]:
    """One training for each way."""
    train, dev, test = (str(data / f"{part}.conllu.gz") for part in ("train", "dev", "test"))
    for name, parser in ROWS.items():
        learning = Learning(
            algorithm="continue", width=Ramp(4, 4), epochs=5, learning_rate=4e-3, patience=0
        )
        files = TextFiles(train=train, dev=dev)
        experiment = ParsingExperiment(data=files, parser=parser, learning=learning)
        yield Entry(f"{name}-seed0", experiment, (1, 4), test)


if __name__ == "__main__":
    run_grid("crossing_arcs", __doc__, entries, COLUMNS)
