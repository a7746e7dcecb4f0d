import pytest
import typer

from beamlearn.check import UsageError
from beamlearn.cli.flags import flags_of, with_flags
from beamlearn.cli.main import app

FLAGS = {"width": "--width", "out": "--out", "resume": "--resume", "tag_size": "--tag-size"}


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("`tag_size` must be 1.", "--tag-size must be 1."),
        ("`learning.width` must be 1.", "--width must be 1."),
        ("Known: `depth`, `other.depth`.", "Known: `depth`, `other.depth`."),
        ("Pass `width=8` or `resume=True`.", "Pass --width 8 or --resume."),
        ("Train with `width` = 2.", "Train with --width 2."),
        ("Only for `width` = 0.5 or `width` = wide.", "Only for --width 0.5 or --width wide."),
        ("Train with `stream`.", "Train with --stream."),
        ("run/config.json: `learning.width` must be 1.",) * 2,
    ],
)
def test_settings_become_flags(message, shown):
    assert with_flags(ValueError(message), FLAGS, (), {"stream": "--stream"}) == shown


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], "a.toml: --width must be 1."),
        (["--config", "a.toml"], "a.toml: `learning.width` must be 1."),
        (["--config=a.toml"], "a.toml: `learning.width` must be 1."),
        (["--config", "a.toml", "--width", "0"], "--width must be 1."),
        (["--config", "a.toml", "--width=0"], "--width must be 1."),
    ],
)
def test_a_file_keeps_the_names_that_it_has(arguments, shown):
    error = ValueError("a.toml: `learning.width` must be 1.")
    assert with_flags(error, FLAGS, arguments) == shown


def test_flags_that_fix_an_error_are_named_once():
    full = "(See --resume and --out.)"
    assert with_flags(UsageError("It holds a run.", "resume", "out"), FLAGS).endswith(full)
    assert with_flags(UsageError("Choose another `out`.", "out"), FLAGS) == "Choose another --out."
    assert with_flags(UsageError("No file.", "train"), FLAGS) == "No file."


def test_what_is_compared_has_the_flag_for_several():
    commands = typer.main.get_command(app())
    assert flags_of(commands, ["compare", "tag"])["width"] == "--widths"
    assert flags_of(commands, ["train", "tag"])["width"] == "--width"
