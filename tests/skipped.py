"""What a run of the tests left out, in one line at its end, and how to run it."""

from collections import Counter

REMEDIES = {
    "browser tests": ("Chromium", "apt-get install chromium, or playwright install chromium"),
    "tests on shared data": ("shared data", "set BEAMLEARN_DATA to the folder of the data"),
    "tests of packages that are not installed": ("could not import", "pip install -e '.[dev]'"),
    "slow tests": ("slow", "make test, or pytest -m ''"),
}
"""Kinds of tests: the word in the reason for leaving one out, and what to do."""
OTHERS = "others for this machine"


def kind_of(reason):
    """Which tests are left out for such a reason.

    >>> kind_of("Skipped: could not import 'peft': No module named 'peft'")
    'tests of packages that are not installed'
    """
    return next((kind for kind, (word, _) in REMEDIES.items() if word in reason), OTHERS)


def sentence(reasons, slow=0):
    """One line about the reasons that skipped tests gave, and about `slow` ones left out.

    >>> sentence(["There is no Chromium; install it."] * 2)
    'Skipped: 2 browser tests (apt-get install chromium, or playwright install chromium).'
    >>> sentence([], slow=None)  # some, nobody knows how many
    "Skipped: slow tests (make test, or pytest -m '')."
    >>> sentence([])
    'Skipped: nothing.'
    """
    counts = Counter(map(kind_of, reasons)) + Counter({"slow tests": slow or 0})
    parts = [f"slow tests ({REMEDIES['slow tests'][1]})"] if slow is None else []
    for kind in (*REMEDIES, OTHERS):
        if counts[kind]:
            what = REMEDIES.get(kind, ("", "see the reasons above"))[1]
            named = kind.replace("tests", "test", 1) if counts[kind] == 1 else kind
            parts.append(f"{counts[kind]:,} {named} ({what})")
    return f"Skipped: {'; '.join(parts) or 'nothing'}."
