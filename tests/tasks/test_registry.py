"""A second task, as small as one can be: what all tasks share must not take it for tagging."""

import json
from typing import ClassVar, Literal

import pytest
import typer
from beamlearn.cli.task import TaskCommands
from beamlearn.cli.tasks import COMMANDS
from tiny import NETWORK, begin, conllu, finish, part, sentences
from tiny import experiment as tagging_experiment
from tiny_pairs import experiment as transduction_experiment

from beamlearn import BeamTagger
from beamlearn.cli.main import run as beamlearn
from beamlearn.cli.train import command
from beamlearn.comparison.runner import Entry, run_entry
from beamlearn.data.text import read_lines
from beamlearn.tasks import experiment as experiments
from beamlearn.tasks import settings
from beamlearn.tasks.decoding import in_order
from beamlearn.tasks.registry import TASKS, load
from beamlearn.tasks.settings import Files
from beamlearn.tasks.tagging.decode import tag
from beamlearn.tasks.tagging.lexicon import TaggingLexicon
from beamlearn.tasks.tagging.model import Tagger, scorer_of
from beamlearn.tasks.tagging.report import report
from beamlearn.tasks.tagging.sentences import read_sentences
from beamlearn.tasks.tagging.settings import TaggerSettings
from beamlearn.tasks.tagging.task import TAGGING
from beamlearn.tasks.task import DataSet, Kind, Model
from beamlearn.training.run import RunError
from beamlearn.training.settings import Learning, SettingsError

pytestmark = pytest.mark.usefixtures("no_shape_checks")


class Experiment(settings.Experiment):
    group: ClassVar[str] = "labeler"
    task: Literal["label"] = "label"
    labeler: TaggerSettings = TaggerSettings()


class LabelKind(Kind):
    name, experiment, unit, symbols = "label", Experiment, "labels", "labels and words"

    def read(self, path, experiment):
        return read_sentences(path, "upos")

    def build(self, experiment, train, seed, device):
        return Tagger.build(experiment.labeler, train.words, train.tags, seed=seed, device=device)

    def rebuild(self, experiment, vocabulary, device):
        lexicon = TaggingLexicon.from_json(vocabulary)
        return Tagger(experiment.labeler, lexicon, scorer_of(experiment.labeler, lexicon), device)

    def check_warm_start(self, model, train, source):
        pass

    def examples(self, model, data):
        return TAGGING.examples(model, data)

    def judge(self, found, validation):
        return f"{int(found.costs.sum())} wrong labels"

    def report(self, model, data, width):
        return report(model, data.words, data.tags, width)


class LabelCommands(TaskCommands):
    kind = LabelKind()
    help = "Train a labeler."
    options = frozenset()
    table: ClassVar = {"accuracy": "labels right"}

    def size(self, model, examples):
        return f"{examples} examples"

    def score(self, result):
        return f"right {result['accuracy']:.0%}"

    def predict(self, model, experiment, asked):
        words = [line.split() for line in read_lines(asked.input)]
        found = in_order(tag(model, words, asked.width, nbest=asked.nbest))
        return "".join(" ".join(tagging.tags) + "\n" for tagging in found)

    def read(self, file, model, experiment, options):
        return self.kind.read(file, experiment)


@pytest.fixture
def label(monkeypatch):
    commands = LabelCommands()
    monkeypatch.setitem(TASKS, "label", commands.kind)
    monkeypatch.setitem(COMMANDS, "label", commands)
    return commands.kind


def experiment(folder, **changes):
    folder.mkdir(exist_ok=True)
    data = Files(train=conllu(folder / "train.conllu", sentences(12)))
    learning = Learning(width=2, epochs=2, batch_size=4)
    values = {"data": data, "labeler": TaggerSettings(**NETWORK), "learning": learning}
    return Experiment(**{**values, **changes})


def test_names_agree():
    for name, kind in TASKS.items():
        assert name == kind.name == kind.experiment.model_fields["task"].default
        assert kind.experiment.group in kind.experiment.model_fields
        assert COMMANDS[name].kind is kind
    assert COMMANDS.keys() == TASKS.keys()
    assert list(TASKS) == ["tag", "parse", "transduce"]


def test_another_task_is_trained_resumed_and_loaded(label, tmp_path):
    chosen = experiment(tmp_path)
    prepared = experiments.begin(label, chosen, tmp_path / "run")
    assert isinstance(prepared.model, Model)
    assert isinstance(prepared.validation, DataSet)
    part(prepared, 2)
    prepared = finish(experiments.resume(label, tmp_path / "run"))
    *_, found = experiments.begin(label, chosen, tmp_path / "other").training
    assert prepared.judge(found.evaluation).endswith("wrong labels")
    model, kept = load(tmp_path / "run")
    assert kept == chosen.resolved()
    assert isinstance(kept, Experiment)
    assert not model.scorer.training


def test_another_task_has_its_own_words_in_messages(label, tmp_path):
    finish(experiments.begin(label, experiment(tmp_path), tmp_path / "run"))
    (tmp_path / "run" / "vocabulary.json").write_text("{}")
    with pytest.raises(RunError, match="must hold the labels and words of the labeler in config"):
        load(tmp_path / "run")
    with pytest.raises(SettingsError, match="but this labeler was fitted in memory"):
        experiments.begin(label, experiment(tmp_path, data=None), tmp_path / "new")


def test_tasks_are_not_mixed_up(label, tmp_path):
    finish(begin(tagging_experiment(tmp_path), tmp_path / "tag"))
    finish(experiments.begin(label, experiment(tmp_path), tmp_path / "label"))
    warm = experiment(tmp_path, warm_start=str(tmp_path / "tag"))
    with pytest.raises(SettingsError, match="tag/config.json: `task`: .*'label', got 'tag'"):
        experiments.begin(label, warm, tmp_path / "new")
    with pytest.raises(SettingsError, match="label/config.json: `task`: .*'tag', got 'label'"):
        BeamTagger.load(tmp_path / "label")
    assert isinstance(load(tmp_path / "label")[1], Experiment)
    assert load(tmp_path / "tag")[1].task == "tag"


@pytest.mark.parametrize("name", ["tagg", None, ["tag"]])
def test_a_task_that_does_not_exist(tmp_path, name):
    begin(tagging_experiment(tmp_path), tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "task": name}))
    with pytest.raises(RunError, match=r"run/config.json: There is no task called .* Known: tag"):
        load(tmp_path / "run")


def test_another_task_is_compared(label, tmp_path):
    chosen = experiment(tmp_path)
    entry = Entry("a", chosen, (1, 2), chosen.data.train)
    results = run_entry(entry, tmp_path / "run")
    assert [result["width"] for result in results] == [1, 2]
    assert run_entry(entry, tmp_path / "run") == results


def test_another_task_is_inspected(label, tmp_path, capsys):
    finish(experiments.begin(label, experiment(tmp_path), tmp_path / "run"))
    file = tmp_path / "train.conllu"
    asked = ["inspect", str(tmp_path / "run"), str(file), "--text", "--width", "2"]
    assert beamlearn(asked) == 0
    told = capsys.readouterr().out
    assert " ".join(sentences(12).words[0]) in told
    assert "cost" in told
    assert beamlearn([*asked[:2], "--text", "--typed", "a word"]) == 2
    assert "the task 'label' takes none; give a file" in " ".join(capsys.readouterr().err.split())


def test_transduction_is_loaded_and_compared_like_the_others(tmp_path):
    chosen = transduction_experiment(tmp_path, epochs=1)
    entry = Entry("a", chosen, (1, 2), chosen.data.train)
    assert [result["width"] for result in run_entry(entry, tmp_path / "run")] == [1, 2]
    model, kept = load(tmp_path / "run")
    assert isinstance(model, Model)
    assert (kept.task, kept) == ("transduce", chosen.resolved())
    with pytest.raises(SettingsError, match="`task`: must be 'tag', got 'transduce'"):
        BeamTagger.load(tmp_path / "run")


def test_commands_of_another_task(label, tmp_path, capsys):
    out, test = str(tmp_path / "run"), conllu(tmp_path / "test.conllu", sentences(5, seed=2))
    app = typer.Typer()
    app.command()(command(COMMANDS["label"]))
    sizes = ["--word-size", "4", "--affix-size", "2", "--encoder-size", "4", "--history-size", "4"]
    train = typer.main.get_command(app)
    train.main(["--train", test, "--out", out, "--epochs", "1", *sizes], standalone_mode=False)
    told = capsys.readouterr().err
    assert "4 examples, " in told
    assert "wrong labels" in told
    assert "validation, beam 1: right " in told
    with pytest.raises(SystemExit):
        train.main(["--column", "xpos", "--out", out])
    assert "No such option: --column" in capsys.readouterr().err
    assert beamlearn(["evaluate", out, test]) == 0
    assert "labels right" in capsys.readouterr().out
    assert beamlearn(["evaluate", out, test, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "label"
    (tmp_path / "words.txt").write_text("the dog\nold\n")
    assert beamlearn(["predict", out, str(tmp_path / "words.txt")]) == 0
    assert [len(line.split()) for line in capsys.readouterr().out.splitlines()] == [2, 1]
    for name, value in (("column", "upos"), ("layout", "conllu")):
        for verb in ("predict", "evaluate"):
            assert beamlearn([verb, out, test, f"--{name}", value]) == 2
            told = " ".join(capsys.readouterr().err.split())
            assert told.startswith(f"`{name}` is no option for the task of {out}, which is 'label'")
            assert told.endswith(f"leave out --{name}.")
