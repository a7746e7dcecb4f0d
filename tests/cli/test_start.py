"""Commands answer at once: what needs no training loads no torch."""

import json
import subprocess
import sys

import pytest

WITHOUT_TORCH = [
    ["--help"],
    ["train", "tag", "--help"],
    ["predict", "--help"],
    ["compare", "parse", "--help"],
    ["train", "tag", "--out", "x", "--widht", "8"],
    ["train", "tag", "--train", "x", "--out", "x", "--algorithm", "nonsense"],
]


def python(code):
    """What a fresh interpreter prints last, as JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_help_and_mistakes_load_no_torch():
    code = f"""
import json, sys
from beamlearn.cli.main import run
found = [(run(command), "torch" in sys.modules) for command in {WITHOUT_TORCH!r}]
print(json.dumps(found))
"""
    assert python(code) == [[0, False]] * 4 + [[2, False]] * 2


@pytest.mark.parametrize(
    ("use", "loaded", "not_loaded"),
    [
        ("", [], ["torch", "pydantic", "sklearn"]),
        ("bl.beam_search", ["torch"], ["pydantic", "rich", "sklearn", "sacrebleu", "jinja2"]),
    ],
)
def test_the_library_loads_what_is_used(use, loaded, not_loaded):
    names = [*loaded, *not_loaded]
    code = f"""
import json, sys
import beamlearn as bl
{use}
print(json.dumps([name for name in {names!r} if name in sys.modules]))
"""
    assert python(code) == loaded


def test_an_interrupt_while_commands_are_loaded_shows_no_traceback():
    code = """
import builtins, sys
from beamlearn.cli.start import main
load = builtins.__import__

def interrupted(name, *more):
    if name in ("typer", "torch"):
        raise KeyboardInterrupt
    return load(name, *more)

builtins.__import__ = interrupted
main(["--help"])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
