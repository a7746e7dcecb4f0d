import json
from importlib import metadata
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from tiny import load

from beamlearn.cli.demo.conversations import conversation_of, file_of, split, spoken, write_parts
from beamlearn.cli.demo.example import Example, Reading, Tally, choose, follow, legible, tally
from beamlearn.cli.demo.measured import WIDTHS
from beamlearn.cli.demo.story import run_demo
from beamlearn.cli.demo.wording import describe_example
from beamlearn.cli.main import run
from beamlearn.data import hkcancor
from beamlearn.data.text import DataError
from beamlearn.learning.ramp import Ramp
from beamlearn.reports import figure_file as drawing
from beamlearn.reports.figure_file import FigureError
from beamlearn.tasks.decoding import search
from beamlearn.tasks.tagging.decode import tag
from beamlearn.tasks.tagging.sentences import TaggedSentences, read_sentences
from beamlearn.training.run import RunError


def plain():
    return Console(file=StringIO(), width=80, color_system=None)


@pytest.fixture(scope="module")
def demo(corpus, tmp_path_factory):
    """The folder of a quick demo and what it printed."""
    pytest.importorskip("matplotlib", reason="needs matplotlib; install beamlearn[demo]")
    out = tmp_path_factory.mktemp("demo") / "out"
    console = plain()
    run_demo(console, out, quick=True)
    return out, console.file.getvalue()


def test_recordings_are_split(corpus):
    parts = split(corpus)
    assert {part: len(names) for part, names in parts.items()} == {"train": 45, "dev": 7, "test": 6}
    assert sorted(name for names in parts.values() for name in names) == sorted(corpus)
    conversations = [set(map(conversation_of, names)) for names in parts.values()]
    assert len(set.union(*conversations)) == sum(map(len, conversations)) == 49
    assert split(reversed(list(corpus))) == parts


def test_punctuation_is_not_spoken():
    utterances = [[("旅行", "vn"), ("啊", "y"), ("?", "w")], [(".", "w")], [("係", "v")]]
    assert spoken(utterances) == TaggedSentences(
        [["旅", "行", "啊"], ["係"]], [["B-vn", "I-vn", "B-y"], ["B-v"]]
    )
    assert len(spoken(utterances, 1)) == 1


def test_files_hold_the_data(corpus, tmp_path):
    everything = spoken(utterance for recording in corpus.values() for utterance in recording)
    odd = [i for i, heard in enumerate(everything.words) if not "".join(heard).isalpha()]
    parts = {"dev": everything.take([*odd, *range(100)])}
    write_parts(parts, tmp_path)
    assert read_sentences(str(file_of("dev", tmp_path)), "2") == parts["dev"]
    assert "CC BY 4.0" in file_of("dev", tmp_path).read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.slow
def test_the_demo_prints_three_rows(demo):
    _, text = demo
    lines = [line for line in text.splitlines() if not line.startswith("so far")]
    rows = [line.split() for line in lines if line.count("%") == 2]
    assert [" ".join(row[:-3]) for row in rows] == [
        "by likelihood greedy",
        "by likelihood beam 8",
        "with the beam beam 8",
    ]
    assert "Luke and Wong 2015), CC BY 4.0" in " ".join(text.split())
    assert "beamlearn train tag --help" in text


@pytest.mark.slow
def test_the_demo_fits_a_terminal(demo):
    out, text = demo
    lines = [line for line in text.splitlines() if str(out) not in line]
    assert max(map(cell_len, lines)) <= 80
    assert "\x1b" not in text


@pytest.mark.slow
def test_the_demo_shows_its_progress(demo):
    _, text = demo
    assert "by likelihood: epoch 1/1, validation" in text
    assert "with the beam: epoch 1/1, validation" in text


@pytest.mark.slow
def test_the_demo_writes_what_it_says(demo):
    out, _ = demo
    assert (out / "widths.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (out / "widths.svg").read_text(encoding="utf-8")
    numbers = json.loads((out / "results.json").read_text(encoding="utf-8"))
    measured = [(row["model"], row["width"]) for row in numbers["results"]]
    assert measured == [(model, width) for model in ("likelihood", "beam") for width in WIDTHS]
    assert all(0 <= row["accuracy"] <= 1 and 0 <= row["f1"] <= 1 for row in numbers["results"])
    assert len(numbers["example"]["labels"]) == len(numbers["example"]["beam"]["places"])
    likelihood, beam = (load(out / name)[1] for name in ("likelihood", "beam"))
    assert beam.learning.algorithm == "joint"
    assert beam.learning.beam_weight == Ramp(0.3, 0.3)
    same = {"algorithm": "log_likelihood", "width": Ramp(1, 1)}
    same |= {"beam_weight": None, "beam_start": 0.0}
    assert likelihood.learning == beam.learning.model_copy(update=same)
    normalized = {"normalize": "log_softmax"}
    assert likelihood.tagger == beam.tagger.model_copy(update=normalized)


@pytest.mark.slow
def test_the_demo_ends_with_a_sentence_to_try(demo, capsys):
    _, printed = demo
    command = next(line for line in printed.splitlines() if "--text" in line).split()
    assert run(command[command.index("predict") :]) == 0
    out, told = capsys.readouterr()
    assert [line[:1] for line in out.splitlines()] == [*"側邊冇乜嘢人", ""]
    assert "split into characters" in told


@pytest.mark.slow
def test_a_finished_demo_is_told_again(demo):
    out, _ = demo
    before = json.loads((out / "results.json").read_text(encoding="utf-8"))
    console = plain()
    run_demo(console, out, quick=True)
    assert "trained already" in console.file.getvalue()
    after = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert after["example"] == before["example"]
    for row, again in zip(before["results"], after["results"], strict=True):
        assert row["accuracy"] == again["accuracy"]


@pytest.mark.slow
def test_another_demo_needs_another_folder(demo):
    out, _ = demo
    train = (out / "train.tsv").read_bytes()
    with pytest.raises(RunError, match="holds another one .* choose another --out"):
        run_demo(plain(), out, seed=1, quick=True)
    assert (out / "train.tsv").read_bytes() == train


@pytest.mark.slow
def test_without_a_convincing_utterance_the_nearest_is_shown(demo):
    _, text = demo
    assert "this one comes closest" in " ".join(text.split())


@pytest.mark.slow
def test_the_utterance_that_only_the_beam_gets_right(demo):
    out, _ = demo
    tagger, _ = load(out / "beam")
    test = TaggedSentences(
        [["我"] * 5, ["我"] * 6, ["佢"] * 6], [["B-r"] * 5, ["B-r"] * 6, ["B-r"] * 6]
    )
    right = [tuple(labels) for labels in test.tags]
    once = [("B-v",) * 5, ("B-v", *right[1][1:]), ("B-v",) * 2 + right[2][2:]]
    example = choose(test, (tagger, once), (tagger, right), 8)
    assert example.recovered
    assert (example.characters, example.labels) == (("佢",) * 6, right[2])
    assert tally(test, once, right) == Tally(beam=1, likelihood=0)
    assert tally(test, right, once) == Tally(beam=0, likelihood=1)
    assert not choose(test, (tagger, right), (tagger, right), 8).recovered
    assert not choose(test.take([0]), (tagger, right[:1]), (tagger, once[:1]), 8).recovered


@pytest.mark.slow
def test_places_are_those_in_the_beam(demo):
    out, _ = demo
    tagger, _ = load(out / "beam")
    sentence = TaggedSentences([["我", "係"]], [["B-r", "B-v"]])
    [(_, best)] = tag(tagger, sentence.words, 8)
    [places] = follow(tagger, TaggedSentences(sentence.words, [list(best.tags)]), 8)
    assert places[-1] == 1
    [narrow] = follow(tagger, sentence, 1)
    assert None in narrow
    [wide] = follow(tagger, sentence, len(tagger.lexicon.tags) ** 2)
    scores = search(tagger, [tagger.encode(sentence.words[0])], 10_000).nbest[0]
    right = tagger.lexicon.number_tags(sentence.tags[0]).tolist()
    assert [h.output for h in scores][wide[-1] - 1] == right


def test_an_example_is_told():
    right = ("B-r", "I-r", "B-v")
    wrong = Reading(("B-v", "B-y", "B-v"), (2, None, None))
    kept = Reading(right, (2, 3, 1))
    console = plain()
    describe_example(console, Example(("我", "哋", "係"), right, wrong, kept), Tally(5, 2))
    text = console.file.getvalue()
    assert "我哋/r  係/v" in text
    assert "我/v  哋/y  係/v" in text
    assert [line.split() for line in text.splitlines() if line.strip().startswith("哋")] == [
        ["哋", "I-r", "B-y", "(wrong)", "lost", "I-r", "3"]
    ]
    prose = " ".join(text.split())
    assert "gets 5 right" in prose
    assert "the other way round there are 2. One of the 5:" in prose
    assert "in place 3 after character 2, where greedy search would drop them" in prose


def test_legible():
    assert legible("我哋去旅行啊")
    assert not legible("我哋去")
    assert not legible("我哋去旅行" * 3)
    assert not legible("我哋去Hong")
    assert not legible("我哋去旅行\ue000")
    assert not legible("我哋去旅行\U000210c9")


def test_the_data_is_missing(monkeypatch, tmp_path):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    pytest.importorskip("matplotlib", reason="needs matplotlib; install beamlearn[demo]")
    monkeypatch.setattr(hkcancor, "distribution", missing)
    with pytest.raises(DataError, match=r"run `pip install 'beamlearn\[demo\]'`"):
        run_demo(plain(), tmp_path / "out", quick=True)
    assert not (tmp_path / "out").exists()


def test_matplotlib_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(drawing, "find_spec", lambda name: None)
    with pytest.raises(FigureError, match=r"'matplotlib', .* `pip install 'beamlearn\[demo\]'`"):
        run_demo(plain(), tmp_path / "out", quick=True)
    assert not (tmp_path / "out").exists()
