"""The report of a comparison."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from ..comparison.results import Comparison, PairedTest
from ..comparison.table import shown, words
from ..evaluation.error_profile import ErrorProfile, merge_profiles
from ..plural import counted
from ..training.run import CONFIG, Run, RunError
from ..training.run.folder import METRICS
from .configuration import configuration
from .curves import Log, compared_curves
from .error_figures import blamed, by_position
from .page import page_of
from .reliability import calibrated
from .section import Section, Table
from .widths import Values, against_width, both_widths, grids_of
from .wording import alike, best_of, listed, p_value, value, wider

LEVEL = 0.05
LINES = 5
"""For how many ways to train a figure of steps or confidences has lines."""
UNTESTED = "this difference was not tested for significance"
Profiles = dict[tuple[str, int], ErrorProfile]
"""By cell and width in testing, over all seeds."""


def report_of_comparison(comparison: Comparison, folder: Path) -> bytes:
    """The page of a comparison in a folder; it says what is missing."""
    runs = {cell: runs_of(comparison, folder, cell) for cell in comparison.cells}
    values: Values = {
        cell: {
            width: found for width in comparison.widths if (found := comparison.values(cell, width))
        }
        for cell in comparison.cells
    }
    known = {cell: by_width for cell, by_width in values.items() if by_width}
    logs = {cell: [Log.of(run.rounds()) for run in several] for cell, several in runs.items()}
    sections: list[Section | None] = [
        summary(comparison, known),
        compared_curves(logs),
        against_width(values, comparison.metric, by_width(comparison, known)),
        both_widths(known, comparison.metric, grids_of(comparison.rows)),
        *profiled(comparison, known, profiles_of(runs)),
        configuration(comparison.command, comparison.settings),
    ]
    title = f"Comparison in {folder.resolve().name}"
    return page_of(title, [one for one in sections if one is not None])


def runs_of(comparison: Comparison, folder: Path, cell: str) -> list[Run]:
    """The trainings of a cell whose folders are there."""
    folders = (folder / f"{cell}-seed{seed}" for seed in range(comparison.seeds))
    return [Run.open(path) for path in folders if (path / CONFIG).is_file()]


def profiles_of(runs: dict[str, list[Run]]) -> Profiles:
    """The profiles that were saved with the runs, merged over seeds."""
    found: Profiles = {}
    for cell, several in runs.items():
        for run in several:
            try:
                for record in (run.load_metrics() or {}).get("profiles", []):
                    place = cell, (profile := ErrorProfile.from_json(record)).width
                    found[place] = (
                        merge_profiles([found[place], profile]) if place in found else profile
                    )
            except RunError:
                raise
            except (TypeError, ValueError) as error:
                raise RunError(
                    f"{run.path / METRICS} has a damaged profile ({error}); delete this file and "
                    "run the same `beamlearn compare` command again, which tests without training."
                ) from error
    return found


def summary(comparison: Comparison, known: Values) -> Section:
    """What was compared, what is best, and what the tests say."""
    metric, seeds, ways = comparison.metric, comparison.seeds, len(comparison.cells)
    sentences = [
        f"{counted(ways, 'way')} to train a model for the task {comparison.task} "
        f"{'was' if ways == 1 else 'were'} compared with {counted(seeds, 'seed')} each on "
        f"{Path(comparison.test).name} ({counted(comparison.examples, 'example')})."
    ]
    if not known:
        sentences.append("No training is finished yet.")
    else:
        (cell, width), *others = best_places(comparison, known)
        sentences.append(
            f"The best is {cell} with a beam of {width}{alike(len(others))}: {metric.label} "
            f"{value(metric, mean(known[cell][width]))}. {verdict(comparison, cell, width)}"
        )
        sentences += by_width(comparison, {cell: known[cell]})
    sentences += [f"{name} is not finished: {why}" for name, why in comparison.failed.items()]
    sentences += [line.replace("`", "") for line in words(comparison).split("\n\n")]
    lines = shown(comparison)
    rows = tuple(
        (cell, *(f"{one.text} {one.mark}".strip() for one in numbers))
        for cell, numbers in lines.items()
    )
    strong = {
        (i, j)
        for i, numbers in enumerate(lines.values())
        for j, one in enumerate(numbers, 1)
        if one.best
    }
    heads = ("trained", *(f"beam {width}" for width in comparison.widths))
    table = Table(heads, rows, frozenset(strong))
    return Section(
        "summary", "Summary", tuple(sentences), tables=(table, *p_values(comparison.tests))
    )


def p_values(tests: Sequence[PairedTest]) -> list[Table]:
    """Every test against the baseline."""
    rows = tuple(
        (one.cell, str(one.width), f"{one.difference:+.4f}", f"{one.p:.4f}", f"{one.adjusted:.4f}")
        for one in tests
    )
    heads = ("trained", "beam", "cost minus baseline", "p", "p, corrected")
    return [Table(heads, rows)] if rows else []


def best_places(comparison: Comparison, known: Values) -> list[tuple[str, int]]:
    """The cells and the widths with the best mean."""
    found = {(cell, width): mean(each) for cell in known for width, each in known[cell].items()}
    return best_of(comparison.metric, found)


def verdict(comparison: Comparison, cell: str, width: int) -> str:
    """Is it better than the baseline?"""
    if cell == comparison.baseline:
        return "This is the baseline itself."
    test = comparison.test_of(cell, width)
    if test is None:
        return f"It was not tested against the baseline {comparison.baseline} at this width."
    less = "less" if test.difference < 0 else "more"
    found = (
        f"costs significantly {less} than the baseline {comparison.baseline} at the same width"
        if test.adjusted < LEVEL
        else "does not differ significantly in cost from the baseline "
        f"{comparison.baseline} at the same width"
    )
    return (
        f"It {found} ({test.difference:+.4f} per example, {p_value(test.adjusted)} after Holm's "
        "correction)."
    )


def by_width(comparison: Comparison, known: Values) -> list[str]:
    """Compare the widest beam with the narrowest for each cell, without a test."""
    metric = comparison.metric
    sentences: list[str] = []
    ways: dict[str, list[str]] = {"higher": [], "lower": []}
    for cell, found in known.items():
        first, *_, last = sorted(found) if len(found) > 1 else [0, 0]
        if first == last:
            continue
        ends = (first, mean(found[first])), (last, mean(found[last]))
        does = f"For {cell}, {wider(metric, *ends)}"
        if metric.shown(ends[0][1]) == metric.shown(ends[1][1]):
            sentences.append(f"{does}.")
        else:
            sentences.append(f"{does}; {UNTESTED}.")
            ways["higher" if ends[1][1] > ends[0][1] else "lower"].append(cell)
    if len(sentences) < 2:
        return sentences
    differ = [f"{way} for {listed(cells)}" for way, cells in ways.items() if cells]
    beams = f"a beam of {max(comparison.widths)} rather than {min(comparison.widths)}"
    how = f"{' and '.join(differ)}; {UNTESTED}" if differ else "the same for all"
    return [f"With {beams}, {metric.spoken} is {how}."]


def profiled(comparison: Comparison, known: Values, profiles: Profiles) -> list[Section | None]:
    """The sections that need profiles, or a sentence that says that there are none."""
    if not profiles:
        sentence = (
            "Errors by step, search errors and calibration are not shown because the run folders "
            "have no profiles: the folders were deleted, or an earlier version wrote them. Run the "
            "same `beamlearn compare` command again to add them; it tests without training."
        )
        return [Section("profiles", "Where do errors happen?", (sentence,))]
    widest = max(width for _, width in profiles)
    ranked = sorted(
        (cell for cell in known if (cell, widest) in profiles and widest in known[cell]),
        key=lambda cell: mean(known[cell][widest]) * (1 if comparison.metric.lower else -1),
    )
    kept = dict.fromkeys([comparison.baseline, *ranked[: LINES - 1]])
    some = {
        number: (f"{cell}, beam {widest}", profiles[cell, widest])
        for number, cell in enumerate(comparison.cells)
        if cell in kept and (cell, widest) in profiles
    }
    every = [(f"{cell}, beam {width}", one) for (cell, width), one in profiles.items()]
    return [by_position(some), blamed(every), calibrated(some)]
