"""Training from a cache of packed sentences or pairs comes to the same bytes, whatever the task."""

import gzip
import json
import os
from hashlib import sha256
from types import SimpleNamespace

import pytest
import tiny
import tiny_pairs
import tiny_trees
import torch
from tiny import contents, finish, part

from beamlearn.cli.main import run
from beamlearn.data import atomic
from beamlearn.data import packed as storage
from beamlearn.data.packed import Packed
from beamlearn.data.text import DataError
from beamlearn.tasks import data as splits
from beamlearn.tasks import experiment as experiments
from beamlearn.tasks.data import is_cached
from beamlearn.tasks.registry import task_named
from beamlearn.tasks.settings import Files
from beamlearn.tasks.tagging.settings import TaggingFiles
from beamlearn.training.batches import LazyExamples, batches_of, similar
from beamlearn.training.settings import parse

pytestmark = pytest.mark.usefixtures("no_shape_checks")
RUNS = ("plain", "run")


def tagging(folder, **options):
    return tiny.experiment(folder, **options)


def linear_tagging(folder, **options):
    network = {"model": "linear", "buckets": 64}
    chosen = tiny.experiment(folder, **options)
    return chosen.model_copy(update={"tagger": type(chosen.tagger)(**network)})


def parsing(folder, **options):
    return tiny_trees.experiment(folder, **options)


def tagged_parsing(folder, **options):
    return tiny_trees.experiment(folder, tagged=True, network={"tags": "upos"}, **options)


def transduction(folder, **options):
    return tiny_pairs.experiment(folder, **options)


def several_references(folder, train=12, **options):
    text = "\t\n" + tiny_pairs.tsv(tiny_pairs.pairs(train - 1, several=True))
    chosen = tiny_pairs.experiment(folder, text=text, **options)
    data = chosen.data.model_copy(update={"references": "several"})
    return chosen.model_copy(update={"data": data})


EXPERIMENTS = (tagging, parsing, tagged_parsing, transduction, several_references)
for_all_tasks = pytest.mark.parametrize("experiment", EXPERIMENTS)


def with_cache(chosen, cache="always"):
    data = chosen.data.model_copy(update={"cache": cache})
    return chosen.model_copy(update={"data": data})


def columns(data):
    """All that a data set has, in memory."""
    return {name: value and list(value) for name, value in vars(data).items()}


def both(tmp_path, experiment, train=30):
    """A task, what it learns from as read into memory, and the same packed."""
    chosen = experiment(tmp_path, train=train)
    task, path = task_named(chosen.task), chosen.data.train
    packed = task.read_packed(path, chosen, tmp_path / "cache")
    return SimpleNamespace(
        task=task, experiment=chosen, plain=task.read(path, chosen), packed=packed
    )


@for_all_tasks
def test_what_is_packed_is_what_the_file_says(tmp_path, experiment):
    case = both(tmp_path, experiment, 2500)  # more than a window
    parts = zip(splits.hold_out(case.plain), splits.hold_out(case.packed), strict=True)
    for plain, packed in [(case.plain, case.packed), *parts]:
        held = [value for value in vars(packed).values() if value is not None]
        assert all(isinstance(value, Packed) for value in held)
        assert columns(packed) == columns(plain)
        assert packed.digest == plain.digest
        assert len(packed) == len(plain)
        assert list(packed.words) == list(plain.words)


def earlier(data):
    """What fingerprints were computed from before there was a cache."""
    if isinstance(data, tiny_pairs.Pairs):
        return data.sources, data.references
    if isinstance(data, tiny_trees.ParsedSentences):
        return data.words, [(tree.heads, tree.relations) for tree in data.trees], data.tags
    return data.words, data.tags


@for_all_tasks
def test_fingerprints_are_those_of_earlier_versions(tmp_path, experiment):
    plain = both(tmp_path, experiment).plain
    for data in (plain, plain.take([]), plain.take([3])):
        assert data.digest == sha256(repr(earlier(data)).encode()).hexdigest()


def same(one, other):
    """Have two examples the same numbers?"""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one.equal(other) if isinstance(one, torch.Tensor) else one == other


@pytest.mark.parametrize("experiment", [*EXPERIMENTS, linear_tagging])
def test_models_examples_and_batches_are_the_same(tmp_path, generator, experiment):
    case = both(tmp_path, experiment)
    task, chosen = case.task, case.experiment.resolved()
    model, again = (task.build(chosen, d, 0, "cpu") for d in (case.plain, case.packed))
    assert model.vocabulary() == again.vocabulary()
    ready, lazy = (task.examples(model, data) for data in (case.plain, case.packed))
    assert isinstance(lazy, LazyExamples)
    assert list(lazy.lengths) == [len(example) for example in ready]
    state = generator.get_state()
    drawn = similar(lazy, 4, generator)
    expected = batches_of(ready, 4, generator.set_state(state))
    assert len(drawn) == len(expected)
    for one, other in zip([*drawn, lazy[3:5]], [*expected, ready[3:5]], strict=True):
        for a, b in zip(one, other, strict=True):
            assert all(map(same, vars(a).values(), vars(b).values()))


@pytest.mark.parametrize(
    ("size", "suffix", "cache", "cached"),
    [
        (100, "", "auto", False),
        (101, "", "auto", True),
        (16, ".gz", "auto", False),
        (17, ".gz", "auto", True),
        (1, "", "always", True),
        (101, "", "never", False),
    ],
)
def test_large_files_are_cached(tmp_path, monkeypatch, size, suffix, cache, cached):
    monkeypatch.setattr(splits, "LARGE", 100)
    path = tmp_path / f"train{suffix}"
    path.write_bytes(b"x" * size)
    assert is_cached(Files(train=str(path), cache=cache)) == cached


@pytest.mark.parametrize("train", ["-", "nowhere.conllu"])
def test_what_is_no_file_is_not_cached(train):
    assert not is_cached(Files(train=train, cache="always"))


WORDS = {"network": {"source_tokens": "words", "length_extra": 20}}


@pytest.mark.parametrize(
    ("experiment", "learning"),
    [
        *((experiment, {"epochs": 1}) for experiment in EXPERIMENTS),
        pytest.param(tagging, {"dev": 4}, marks=pytest.mark.slow),
        pytest.param(
            tagging,
            {"dev": 4, "optimizer": "gradient", "epochs": 1, "batch_size": 1},
            marks=pytest.mark.slow,
        ),
        pytest.param(parsing, {"network": {"system": "covington"}}, marks=pytest.mark.slow),
        pytest.param(parsing, {"network": {"crossing": "lift"}}, marks=pytest.mark.slow),
        pytest.param(
            transduction,
            {"network": {"cost": "rollout:exact"}, "epochs": 1},
            marks=pytest.mark.slow,
        ),
        pytest.param(transduction, WORDS, marks=pytest.mark.slow),
    ],
)
def test_the_cache_changes_no_byte(tmp_path, experiment, learning):
    chosen = experiment(tmp_path, **learning)
    task = task_named(chosen.task)
    finish(experiments.begin(task, chosen, tmp_path / "plain"))
    begun = experiments.begin(task, with_cache(chosen), tmp_path / "run")
    assert isinstance(begun.training.examples, LazyExamples)
    part(begun, 4)
    (about,) = (tmp_path / "run.cache").glob("*/about.json")
    before = about.stat()
    resumed = finish(experiments.resume(task, tmp_path / "run"))
    assert about.stat().st_mtime_ns == before.st_mtime_ns
    assert contents(tmp_path / "run") == contents(tmp_path / "plain")
    vocabularies = [(tmp_path / name / "vocabulary.json").read_bytes() for name in RUNS]
    assert vocabularies[0] == vocabularies[1]
    configs = [json.loads((tmp_path / name / "config.json").read_text()) for name in RUNS]
    assert [config["data"].pop("cache") for config in configs] == ["auto", "always"]
    assert configs[0] == configs[1]
    resumed.discard_cache()
    assert not (tmp_path / "run.cache").exists()


@for_all_tasks
def test_a_changed_file_is_noticed(tmp_path, experiment):
    chosen = with_cache(experiment(tmp_path))
    task = task_named(chosen.task)
    experiments.begin(task, chosen, tmp_path / "run")
    experiment(tmp_path, train=14)
    with pytest.raises(ValueError, match="is not what the training in .* began with"):
        experiments.resume(task, tmp_path / "run")


@for_all_tasks
def test_a_limit_is_kept_to(tmp_path, experiment):
    chosen = experiment(tmp_path)
    task, files = task_named(chosen.task), chosen.data.model_copy(update={"limit": 5})
    plain, _ = task.split(files, chosen)
    packed, _ = task.split(
        files.model_copy(update={"cache": "always"}), chosen, tmp_path / "run.cache"
    )
    assert columns(packed) == columns(plain)
    assert len(packed) == 4  # one is held out


@for_all_tasks
def test_warm_starts_are_checked_by_what_is_packed(tmp_path, experiment):
    case = both(tmp_path, experiment)
    model = case.task.build(case.experiment.resolved(), case.plain, 0, "cpu")
    case.task.check_warm_start(model, case.packed, "other")
    lesser = case.task.build(case.experiment.resolved(), case.plain.take([0, 1]), 0, "cpu")
    with pytest.raises(ValueError, match="`warm_start`: other must know every") as packed:
        case.task.check_warm_start(lesser, case.packed, "other")
    with pytest.raises(ValueError, match="`warm_start`") as plain:
        case.task.check_warm_start(lesser, case.plain, "other")
    assert str(packed.value) == str(plain.value)


def test_a_training_may_go_on_with_another_cache(tmp_path):
    chosen = tagging(tmp_path)
    assert with_cache(chosen).changed(with_cache(chosen, "never"), tmp_path) is None
    with pytest.raises(ValueError, match="cache"):
        parse(TaggingFiles, {"train": "x", "cache": "sometimes"})


SIZES = {
    "tag": ["--context", "streaming", "--word-size", "4", "--history-size", "4"],
    "parse": ["--word-size", "4", "--encoder-size", "4", "--hidden-size", "4"],
    "transduce": ["--size", "4"],
}


@pytest.mark.parametrize(
    ("experiment", "said"),
    [(tagging, "10 sentences"), (parsing, "10 sentences"), (transduction, "10 pairs")],
)
def test_the_command_removes_the_cache_at_the_end(tmp_path, capsys, experiment, said):
    chosen = experiment(tmp_path)
    options = ["--train", chosen.data.train, "--cache", "always", "--epochs", "1"]
    out = ["--out", str(tmp_path / "run")]
    assert run(["train", chosen.task, *options, *SIZES[chosen.task], *out]) == 0
    assert said in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["run", os.path.basename(chosen.data.train)]


@for_all_tasks
def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, experiment):
    chosen = experiment(tmp_path)
    before = os.listdir(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage.Packing, "add", full)
    with pytest.raises(atomic.DiskFullError, match=r"no space left .*/run\.cache \("):
        experiments.begin(task_named(chosen.task), with_cache(chosen), tmp_path / "run")
    assert os.listdir(tmp_path) == before


UNLABELED = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
LABELED = UNLABELED.replace("\t_", "\tX", 2)
COLUMNS = "a\tX\n\n"
TREE = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
PAIR = "a\tb\n"


def refused(task, path, chosen, cache):
    """What memory and the cache say of a file."""
    for read in (task.read, lambda *given: task.read_packed(*given, cache)):
        with pytest.raises(DataError) as error:
            read(str(path), chosen)
        yield str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("a.conllu", "", "upos"),
        ("a.conllu", "# only a comment\n", "upos"),
        ("a.conllu", UNLABELED * 2500, "upos"),
        ("a.conllu", UNLABELED * 2500, "feats"),
        ("a.conllu", LABELED * 1500 + LABELED.replace("\tX\tX", "\tX\t", 1), "upos"),
        ("a.conllu", LABELED * 1500 + "1\ta\n\n", "upos"),
        ("a.conllu", LABELED, "form"),
        ("a.conllu", LABELED, "2"),
        ("a.tsv", COLUMNS * 1500 + "a\n\n", "2"),
        ("a.tsv", COLUMNS * 1500 + "a\t\n\n", "2"),
        ("a.tsv", COLUMNS, "3"),
        ("a.tsv", COLUMNS, "upos"),
    ],
)
def test_tags_are_refused_in_the_same_words(tmp_path, name, text, column):
    path = tmp_path / name
    path.write_text(text)
    files = TaggingFiles(train=str(path), column=column)
    chosen = tagging(tmp_path / "other").model_copy(update={"data": files})
    plain, packed = refused(task_named("tag"), path, chosen, tmp_path / "cache")
    assert packed == plain
    assert sorted(os.listdir(tmp_path)) == [name, "other"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one sentence"),
        ("# only a comment\n", "at least one sentence"),
        (TREE * 1500 + "1\ta\n\n", ":3001: A CoNLL-U line must have 10 fields"),
        (TREE * 1500 + TREE.replace("\t0\t", "\t1\t"), ":3001: A head must be"),
        (TREE * 1500 + TREE.replace("root", "_"), ":3001: Every word needs a relation"),
        (TREE * 1500 + TREE.replace("root", "a||b"), ":3001: A relation must not be empty"),
        (TREE * 1500 + TREE.replace("X", "_"), ":3001: This parser needs a tag"),
    ],
)
def test_trees_are_refused_in_the_same_words(tmp_path, text, said):
    path = tmp_path / "a.conllu"
    path.write_text(text)
    chosen = tagged_parsing(tmp_path / "other")
    plain, packed = refused(task_named("parse"), path, chosen, tmp_path / "cache")
    assert packed == plain
    assert said in plain
    assert sorted(os.listdir(tmp_path)) == ["a.conllu", "other"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one pair"),
        ("\n\n", ":1: A line must have a source and a target"),
        ("a\n" * 2500, "no line of this file has a tab"),
        (PAIR * 1500 + "a\n" + PAIR, ":1501: A line must have a tab"),
        ("a\n" * 1500 + PAIR, ":1: A line must have a tab"),
        (PAIR * 1500 + "a\tb\tc\n", ":1501: A line must have one tab"),
        (PAIR * 1500 + "\n", ":1501: A line must have a source and a target"),
    ],
)
def test_pairs_are_refused_in_the_same_words(tmp_path, text, said):
    path = tmp_path / "a.tsv"
    path.write_text(text)
    chosen = transduction(tmp_path / "other")
    plain, packed = refused(task_named("transduce"), path, chosen, tmp_path / "cache")
    assert packed == plain
    assert said in plain
    assert sorted(os.listdir(tmp_path)) == ["a.tsv", "other"]


def test_sources_that_are_too_long_are_refused(tmp_path, monkeypatch):
    case = both(tmp_path, transduction)
    model = case.task.build(case.experiment.resolved(), case.plain, 0, "cpu")
    monkeypatch.setattr(type(model), "longest_source", 3)
    messages = []
    for data in (case.plain, case.packed):
        with pytest.raises(DataError, match=r"train.tsv:\d+: A source may have 3 tokens") as error:
            case.task.examples(model, data)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_targets_that_are_too_long_are_counted(tmp_path):
    case = both(tmp_path, transduction)
    settings = case.experiment.transducer.model_copy(
        update={"length_extra": 0, "length_factor": 0.5}
    )
    chosen = case.experiment.with_settings(settings).resolved()
    messages = []
    for data in (case.plain, case.packed):
        with pytest.raises(DataError, match=r"train.tsv:\d+: .* \(\d+ targets are too") as error:
            case.task.build(chosen, data, 0, "cpu")
        messages.append(str(error.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    ("text", "place"), [(UNLABELED * 1500 + LABELED, 1500), (LABELED + UNLABELED * 1500, 0)]
)
def test_labels_may_begin_late_in_the_file_or_end_early(tmp_path, text, place):
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(text.encode()))
    task, chosen = task_named("tag"), tagging(tmp_path / "other")
    packed = task.read_packed(str(path), chosen, tmp_path / "cache")
    assert packed.digest == task.read(str(path), chosen).digest
    assert packed.tags[place] == ["X"]
