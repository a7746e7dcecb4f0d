"""The rooms of the package, row by row, from the import contract."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from .drawing import Drawing

ROOT = Path(__file__).parents[2]
SAID = {
    "cli": "commands",
    "estimators": "for scikit-learn",
    "hf": "Hugging Face models",
    "pipes": "for spaCy",
    "hub": "repositories of models",
    "reports": "figures, pages, the inspector, play",
    "serving": "answers over HTTP",
    "comparison": "many trainings",
    "theory": "certificates, regret, bounds",
    "prediction": "inputs of any size",
    "tasks": "tagging, parsing, transduction, ranking",
    "training": "settings, epochs, the run folder",
    "nn": "network parts that tasks share",
    "evaluation": "costs, calibration, significance, diagnosis",
    "learning": "Algorithm 2: trajectories, learn, iterates",
    "algorithms": "Tables 1 and 2, as data",
    "strategies": "which beams training visits",
    "losses": "the twelve",
    "search": "Algorithm 1: spaces, oracles, scorers, beams",
    "data": "files in and out",
    "engines": "where work is done",
    "web": "what servers share",
    "check": "checks of arguments",
    "plural": "numbers in words",
}
WIDTH, HEIGHT, GAP, EDGE = 720, 40, 8, 10


def rows() -> list[list[str]]:
    """The rooms that stand side by side, from the top down."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    listed = [[room.strip() for room in row.split("|")] for row in contract["layers"]]
    return [row for row in listed if row != ["__main__"]]


def rooms() -> str:
    """Each room imports from the rows below it alone."""
    listed = rows()
    height = 2 * EDGE + len(listed) * (HEIGHT + GAP) - GAP
    drawing = Drawing(WIDTH + 2 * EDGE, height, "The rooms: each imports from the rows below it")
    for place, row in enumerate(listed):
        middle = EDGE + place * (HEIGHT + GAP) + HEIGHT / 2
        width = (WIDTH - GAP * (len(row) - 1)) / len(row)
        for number, room in enumerate(row):
            left = EDGE + number * (width + GAP)
            drawing.box(left + width / 2, middle, width, HEIGHT, "blue", "panel")
            drawing.text(left + 10, middle - 3, room, size=14, weight=600)
            drawing.text(left + 10, middle + 13, SAID[room], "soft", size=11)
    return drawing.svg()
