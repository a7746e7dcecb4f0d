"""Training from a cache of packed sentences comes to the same bytes."""

import gzip
import json
import os

import pytest
from tiny import begin, conllu, contents, experiment, finish, part, resume, sentences

from beamlearn.cli.main import run
from beamlearn.data.packed import PackedLists
from beamlearn.data.text import DataError
from beamlearn.tasks import data as splits
from beamlearn.tasks.data import is_cached
from beamlearn.tasks.tagging.model import Tagger
from beamlearn.tasks.tagging.packed import PackedExamples
from beamlearn.tasks.tagging.sentences import packed_sentences, read_sentences
from beamlearn.tasks.tagging.settings import TaggerSettings, TaggingFiles
from beamlearn.training.batches import batches_of, similar
from beamlearn.training.settings import parse

pytestmark = pytest.mark.usefixtures("no_shape_checks")


def both(tmp_path, count=30):
    path = conllu(tmp_path / "data.conllu", sentences(count))
    return read_sentences(path, "upos"), packed_sentences(path, "upos", "auto", tmp_path / "cache")


def test_packed_sentences_are_those_of_the_file(tmp_path):
    plain, packed = both(tmp_path, 2500)  # more than a window
    assert isinstance(packed.words, PackedLists)
    assert (list(packed.words), list(packed.tags)) == (plain.words, plain.tags)
    assert packed.digest == plain.digest
    for one, other in zip(splits.hold_out(plain), splits.hold_out(packed), strict=True):
        assert isinstance(other.words, PackedLists)
        assert one.digest == other.digest


def test_fingerprints_are_those_of_earlier_versions(tmp_path):
    plain, _ = both(tmp_path)
    from hashlib import sha256

    assert plain.digest == sha256(repr((plain.words, plain.tags)).encode()).hexdigest()
    assert plain.take([]).digest == sha256(repr(([], [])).encode()).hexdigest()


@pytest.mark.parametrize("model", ["neural", "linear"])
def test_examples_and_batches_are_the_same(tmp_path, generator, model):
    plain, packed = both(tmp_path)
    tagger = Tagger.build(TaggerSettings(model=model), packed.words, packed.tags)
    assert tagger.lexicon == Tagger.build(TaggerSettings(), plain.words, plain.tags).lexicon
    lazy = PackedExamples(tagger, packed.words, packed.tags)
    ready = [tagger.encode(w, t) for w, t in zip(plain.words, plain.tags, strict=True)]
    assert lazy.lengths == [len(example) for example in ready]
    state = generator.get_state()
    drawn = similar(lazy, 4, generator)
    expected = batches_of(ready, 4, generator.set_state(state))
    assert len(drawn) == len(expected)
    for one, other in zip([*drawn, lazy[3:5]], [*expected, ready[3:5]], strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.features.equal(b.features)
            assert a.tags.equal(b.tags)


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
    assert is_cached(TaggingFiles(train=str(path), cache=cache)) == cached


@pytest.mark.parametrize("train", ["-", "nowhere.conllu"])
def test_what_is_no_file_is_not_cached(train):
    assert not is_cached(TaggingFiles(train=train, cache="always"))


def with_cache(chosen, cache="always"):
    data = chosen.data.model_copy(update={"cache": cache})
    return chosen.model_copy(update={"data": data})


@pytest.mark.parametrize("dev", [4, None])
@pytest.mark.parametrize("learning", [{}, {"optimizer": "gradient", "epochs": 1, "batch_size": 1}])
def test_the_cache_changes_no_byte(tmp_path, dev, learning):
    chosen = experiment(tmp_path, dev=dev, **learning)
    finish(begin(chosen, tmp_path / "plain"))
    begun = begin(with_cache(chosen), tmp_path / "run")
    assert isinstance(begun.training.examples, PackedExamples)
    part(begun, 4)
    assert (tmp_path / "run.cache" / "about.json").exists()
    before = (tmp_path / "run.cache" / "about.json").stat()
    resumed = finish(resume(tmp_path / "run"))
    assert (tmp_path / "run.cache" / "about.json").stat().st_mtime_ns == before.st_mtime_ns
    assert contents(tmp_path / "run") == contents(tmp_path / "plain")
    configs = [json.loads((tmp_path / name / "config.json").read_text()) for name in RUNS]
    assert [config["data"].pop("cache") for config in configs] == ["auto", "always"]
    assert configs[0] == configs[1]
    resumed.discard_cache()
    assert not (tmp_path / "run.cache").exists()


RUNS = ("plain", "run")


def test_a_changed_file_is_noticed(tmp_path):
    chosen = with_cache(experiment(tmp_path, dev=4))
    begin(chosen, tmp_path / "run")
    conllu(tmp_path / "train.conllu", sentences(12, seed=9))
    with pytest.raises(ValueError, match="is not what the training in .* began with"):
        resume(tmp_path / "run")


def test_a_training_may_go_on_with_another_cache(tmp_path):
    chosen = experiment(tmp_path, dev=4)
    assert with_cache(chosen).changed(with_cache(chosen, "never"), tmp_path) is None
    with pytest.raises(ValueError, match="cache"):
        parse(TaggingFiles, {"train": "x", "cache": "sometimes"})


def test_the_command_removes_the_cache_at_the_end(tmp_path, capsys):
    chosen = experiment(tmp_path, dev=4)
    options = ["--train", chosen.data.train, "--dev", chosen.data.dev, "--cache", "always"]
    sizes = ["--context", "streaming", "--word-size", "4", "--history-size", "4", "--epochs", "1"]
    assert run(["train", "tag", *options, *sizes, "--out", str(tmp_path / "run")]) == 0
    assert "12 sentences" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["dev.conllu", "run", "train.conllu"]


UNLABELED = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
LABELED = UNLABELED.replace("\t_", "\tX", 2)
COLUMNS = "a\tX\n\n"


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
def test_what_is_refused_in_memory_is_refused_in_the_same_words(tmp_path, name, text, column):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError) as plain:
        read_sentences(str(path), column)
    with pytest.raises(DataError) as packed:
        packed_sentences(str(path), column, "auto", tmp_path / "cache")
    assert str(packed.value) == str(plain.value)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    ("text", "place"), [(UNLABELED * 1500 + LABELED, 1500), (LABELED + UNLABELED * 1500, 0)]
)
def test_labels_may_begin_late_in_the_file_or_end_early(tmp_path, text, place):
    path = tmp_path / "a.conllu.gz"
    path.write_bytes(gzip.compress(text.encode()))
    packed = packed_sentences(str(path), "upos", "auto", tmp_path / "cache")
    assert packed.digest == read_sentences(str(path), "upos").digest
    assert packed.tags[place] == ["X"]
