import re

import pytest
import typer

from beamlearn.cli.help import PlainCommand, PlainGroup, entry
from beamlearn.cli.main import COMMANDS, app, run
from beamlearn.training.choices import LOSS_NAMES, ROW_NAMES


@pytest.fixture(autouse=True)
def quick(no_shape_checks):
    """The command line runs without the tests' shape checks, as for users."""


@pytest.fixture(scope="module")
def commands():
    return typer.main.get_command(app())


def shown(capsys, monkeypatch, *arguments, columns=80):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run([*arguments]) == 0
    return capsys.readouterr().out


def options_in(text):
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)


def test_commands_come_in_the_order_of_a_day(capsys, monkeypatch, commands):
    text = shown(capsys, monkeypatch, "--help")
    listed = re.findall(r"^  ([a-z]+)  ", text, re.MULTILINE)
    assert listed == list(COMMANDS)
    assert set(COMMANDS) == set(commands.commands)


@pytest.mark.parametrize("group", [[], ["train"], ["compare"]])
def test_a_group_alone_shows_its_help(capsys, group):
    assert run(group) == 2
    assert capsys.readouterr().out.startswith(f"Usage: {' '.join(['beamlearn', *group])} COMMAND")


@pytest.mark.parametrize("task", ["tag", "parse", "transduce"])
def test_the_short_help_of_train_fits_a_screen(capsys, monkeypatch, task):
    text = shown(capsys, monkeypatch, "train", task, "--help")
    names = options_in(text)
    assert names[:3] == ["--train", "--dev", "--out"]
    assert {"--algorithm", "--width", "--resume", "--overwrite", "--help-all"} <= {*names}
    assert len(names) <= 14
    assert len(text.splitlines()) <= 55
    assert f"beamlearn train {task} --train" in text


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("command", [["train", "tag"], ["compare", "transduce"]])
def test_no_name_is_cut(capsys, monkeypatch, commands, command, columns):
    text = shown(capsys, monkeypatch, *command, "--help-all", columns=columns)
    for parameter in commands.commands[command[0]].commands[command[1]].params:
        for name in (*parameter.opts, *parameter.secondary_opts):
            assert re.search(rf"(?<![\w-]){name}(?![\w-])", text)
    for name in LOSS_NAMES:
        assert re.search(rf"\b{name}\b", text)
    assert "…" not in text
    if columns >= 80:
        assert max(map(len, text.splitlines())) <= min(columns, 100)


def test_all_commands_show_their_arguments_and_defaults(capsys, monkeypatch):
    text = shown(capsys, monkeypatch, "evaluate", "--help")
    assert text.startswith("Usage: beamlearn evaluate RUN FILE [OPTIONS]\n")
    assert "(default: 1 and the one measured by train)" in " ".join(text.split())
    assert "--threads N" in text
    assert "(default: 1)" in text
    text = shown(capsys, monkeypatch, "inspect", "--help")
    assert text.startswith("Usage: beamlearn inspect RUN [INPUT] [OPTIONS]\n")


def test_examples_can_be_copied(capsys, monkeypatch):
    text = shown(capsys, monkeypatch, "train", "tag", "--help")
    examples = text.split("Examples:\n")[1].split("\n\n")[0]
    assert " \\\n      --out runs/pos" in examples
    assert "[bold]" not in text


def test_long_names_have_their_description_below():
    assert entry("--optimizer adam|gradient|leader", "Which.", 80).splitlines() == [
        "  --optimizer adam|gradient|leader",
        " " * 28 + "Which.",
    ]


def values_offered(commands, path, name, incomplete):
    command = commands
    for part in path:
        command = command.commands[part]
    parameter = next(one for one in command.params if one.name == name)
    context = typer.Context(command)
    return [item.value for item in parameter.shell_complete(context, incomplete)]


@pytest.mark.parametrize(
    ("path", "name", "incomplete", "offered"),
    [
        (["train", "tag"], "algorithm", "", list(ROW_NAMES)),
        (["train", "tag"], "loss", "weighted", [n for n in LOSS_NAMES if "weighted" in n]),
        (["train", "tag"], "column", "", ["upos", "xpos", "feats", "supertag"]),
        (["train", "parse"], "system", "arc-e", ["arc-eager"]),
        (["train", "tag"], "lookahead", "a", ["all", "auto"]),
        (["compare", "tag"], "algorithms", "dagger,bs", ["dagger,bso"]),
        (["predict"], "policy", "m", ["mixture"]),
        (["evaluate"], "references", "m", ["merged"]),
    ],
)
def test_a_shell_offers_values(commands, path, name, incomplete, offered):
    assert values_offered(commands, path, name, incomplete) == offered


def test_no_command_has_the_help_that_cuts_names(commands):
    for command in commands.commands.values():
        for one in (command, *getattr(command, "commands", {}).values()):
            assert isinstance(one, PlainCommand | PlainGroup)
