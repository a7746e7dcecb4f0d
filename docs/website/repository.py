"""Which files of the repository are pages of the site, and where they stand there."""

from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "README.md": "index.md",
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/07_hugging_face.ipynb": "tutorials/hugging_face.ipynb",
}
"""Pages that are not in docs/; the README's place is taken by the landing page."""
NAVIGATION = {
    "Tutorials": (
        "tutorials/index",
        "tutorials/tagger",
        "tutorials/parser",
        "tutorials/pronunciation",
        "tutorials/your_own_space",
        "tutorials/hugging_face",
    ),
    "Tasks": ("tagging", "parsing", "transduction", "ranking", "hugging_face"),
    "How to": (
        "choose_an_algorithm",
        "n_best_and_confidence",
        "report",
        "compare",
        "diagnose",
        "inspect",
        "speed",
        "scaling",
        "any_metric",
        "constraints",
        "sampling",
        "extending",
    ),
    "Understand": ("paper_in_pictures", "training", "theory", "deviations", "architecture"),
    "Look up": (
        "reference/index",
        "reference/losses/index",
        "reference/commands/index",
        "reference/settings/index",
        "examples",
    ),
    "Project": (
        "benchmarks",
        "comparisons/ewt_supertags",
        "comparisons/hkcancor",
        "changelog",
        "contributing",
    ),
}
"""The sidebar. A page that is not there yet is left out; a new one stands under `NEW`."""
NEW = "How to"
SHORT = {
    "tutorials/index": "All tutorials",
    "tutorials/tagger": "A tagger",
    "tutorials/parser": "A parser",
    "tutorials/pronunciation": "Pronunciation",
    "tutorials/your_own_space": "Your own space",
    "tutorials/hugging_face": "Hugging Face",
    "comparisons/ewt_supertags": "Comparison: English supertags",
    "comparisons/hkcancor": "Comparison: Cantonese",
}
"""What pages with long titles are called in the sidebar."""


def pages() -> dict[str, str]:
    """The place on the site of every file that is a page, both as paths with slashes."""
    found = dict(ELSEWHERE)
    docs = ROOT / "docs"
    for path in sorted([*docs.rglob("*.md"), *docs.rglob("*.ipynb")]):
        place = path.relative_to(docs).as_posix()
        if ".ipynb_checkpoints" not in place:
            found[f"docs/{place}"] = place
    return found


def navigation(names: set[str]) -> dict[str, list[str]]:
    """The sidebar for pages of these names, without suffix.

    >>> bar = navigation({"index", "tagging", "something_new", "reference/losses/upper_bound"})
    >>> bar["Tasks"], bar["How to"], bar["Look up"]
    (['tagging'], ['something_new'], [])
    """
    bar = {title: [one for one in group if one in names] for title, group in NAVIGATION.items()}
    placed = {name for group in NAVIGATION.values() for name in group} | {"index"}
    bar[NEW] += sorted(name for name in names - placed if "/" not in name)
    return bar


def relative(target: str, page: str) -> str:
    """The way from a page to a target, both as places on the site.

    >>> relative("benchmarks.md", "comparisons/hkcancor.md")
    '../benchmarks.md'
    """
    here, there = PurePosixPath(page).parent.parts, PurePosixPath(target).parts
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return "/".join([*[".."] * (len(here) - shared), *there[shared:]])
