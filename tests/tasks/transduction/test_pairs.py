import io
import json
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from beamlearn.data.text import DataError
from beamlearn.tasks.data import DataSet, read_split
from beamlearn.tasks.lists import filled
from beamlearn.tasks.transduction.pairs import Pairs, read_pairs
from beamlearn.tasks.transduction.settings import TransductionFiles
from beamlearn.tasks.transduction.space import END, UNSEEN
from beamlearn.tasks.transduction.symbols import SOURCE_END, UNKNOWN, Symbols
from beamlearn.tasks.transduction.tokens import Characters, SentencePiece, Words

TEXT = "abba\tx y\n\tz\nab\t\nabba\tx\n"


def written(tmp_path, text=TEXT):
    path = tmp_path / "f.tsv"
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


# --- data sets ----------------------------------------------------------------------------------


def test_pairs_are_read_with_their_places(tmp_path):
    path = written(tmp_path)
    assert read_pairs(path) == Pairs(
        ["abba", "", "ab", "abba"],
        [("x y",), ("z",), ("",), ("x",)],
        [f"{path}:{n}" for n in (1, 2, 3, 4)],
    )


def test_merging_is_asked_for(tmp_path):
    path = written(tmp_path)
    assert read_pairs(path, merge=True) == Pairs(
        ["abba", "", "ab"],
        [("x y", "x"), ("z",), ("",)],
        [f"{path}:{n}" for n in (1, 2, 3)],
    )


def test_several_references(tmp_path):
    path = written(tmp_path, "a\tx\ty\nb\tz\n")
    assert read_pairs(path, "several").references == [("x", "y"), ("z",)]
    with pytest.raises(DataError, match="f.tsv:1: A line must have one tab, .* got 2"):
        read_pairs(path)


def test_a_file_without_pairs_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="f.tsv: The file must have at least one pair, got none.$"):
        read_pairs(written(tmp_path, ""))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match="^standard input: The file must have at least one pair"):
        read_pairs("-")


def test_empty_sources_are_kept(tmp_path):
    data = read_pairs(written(tmp_path))
    assert isinstance(data, DataSet)
    assert filled(data) == data
    assert data.words == [["abba"], [""], ["ab"], ["abba"]]


def test_some_of_them(tmp_path):
    path = written(tmp_path)
    some = read_pairs(path).take([3, 1])
    assert some == Pairs(["abba", ""], [("x",), ("z",)], [f"{path}:4", f"{path}:2"])
    assert len(some) == 2
    train, dev = read_split(TransductionFiles(train=path, limit=3), read_pairs)
    assert (train.sources, dev.sources) == (["", "ab"], ["abba"])


def test_the_digest_is_of_the_text_alone(tmp_path):
    data = read_pairs(written(tmp_path))
    same = Pairs(data.sources, data.references, ["elsewhere"] * 4)
    others = [
        data.take([0, 1, 2]),
        data.take([1, 0, 2, 3]),
        Pairs(data.sources, [("x y",), ("z",), ("",), ("X",)], data.places),
        Pairs(data.sources, [("x", "y"), ("z",), ("",), ("x",)], data.places),
    ]
    assert same.digest == data.digest
    assert len({one.digest for one in (data, *others)}) == 5


# --- symbols ------------------------------------------------------------------------------------


def symbols(sources=("abba", "", "cb"), references=(("x y", "y"), ("z",), ("",)), **options):
    return Symbols.of(sources, references, source=Characters(), target=Words(), **options)


def test_the_most_frequent_come_first_and_of_equals_the_first_to_occur():
    found = symbols()
    assert found.source_symbols == ("b", "a", "c")
    assert found.target_tokens == ("y", "x", "z")  # of all references
    assert (found.source_size, found.actions) == (5, 4)


def test_sources_in_numbers_end_with_a_symbol():
    found = symbols()
    assert (SOURCE_END, UNKNOWN) == (0, 1)
    assert found.number_source("abc?").tolist() == [3, 2, 4, UNKNOWN, SOURCE_END]
    assert found.number_source([]).tolist() == [SOURCE_END]
    assert found.number_source([]).dtype == torch.long


def test_targets_in_numbers_do_not():
    found = symbols()
    assert found.number_target(["z", "y", "?", "x"]).tolist() == [3, 1, UNSEEN, 2]
    assert found.number_target([]).shape == (0,)
    assert found.number_target([]).dtype == torch.long
    assert found.spell([3, 1, END]) == ["z", "y"]
    with pytest.raises(KeyError):
        found.spell([UNSEEN])


def test_rare_symbols_are_unknown():
    found = symbols(source_min_count=2, target_min_count=2)
    assert found.number_source("abc").tolist() == [3, 2, UNKNOWN, SOURCE_END]
    assert found.number_target("xyz").tolist() == [UNSEEN, 1, UNSEEN]


def test_a_target_needs_a_token():
    message = "^The targets .* token that occurs at least `target_min_count` = 3 times, got none"
    with pytest.raises(DataError, match=message):
        symbols(target_min_count=3)
    with pytest.raises(DataError, match="check the targets, or lower it.$"):
        symbols(target_min_count=3)
    with pytest.raises(DataError, match="check the targets.$"):
        symbols(references=[("",), ()])
    assert symbols(sources=["", ""]).source_symbols == ()


TEXTS = st.lists(st.text("aé\U0001f600 \n", max_size=5), max_size=5)


@given(TEXTS, st.integers(1, 3), st.integers(1, 2))
def test_json_keeps_every_number(texts, source_least, target_least):
    one = Symbols.of(
        texts,
        [[text, "a a"] for text in [*texts, ""]],
        source=Words(),
        target=Characters(),
        source_min_count=source_least,
        target_min_count=target_least,
    )
    two = Symbols.from_json(json.loads(json.dumps(one.to_json())))
    assert two == one
    for text in (*texts, "a new one"):
        words, letters = two.source.cut(text), two.target.cut(text)
        assert torch.equal(one.number_source(words), two.number_source(words))
        numbers = two.number_target(letters)
        assert torch.equal(one.number_target(letters), numbers)
        if UNSEEN not in numbers.tolist():
            assert two.target.join(two.spell(numbers.tolist())) == text


def test_json_has_the_model_of_subwords():
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["abba ab", "ab abba"] * 5),
        model_writer=model,
        vocab_size=8,
        model_type="bpe",
        minloglevel=2,
    )
    tokenizer = SentencePiece(model.getvalue())
    one = Symbols.of(["abba"], [["ab abba"]], source=tokenizer, target=tokenizer)
    two = Symbols.from_json(json.loads(json.dumps(one.to_json())))
    assert two == one
    numbers = two.number_target(two.target.cut("abba ab"))
    assert two.target.join(two.spell(numbers.tolist())) == "abba ab"


@pytest.mark.parametrize(
    "changed",
    [
        {"source": {"kind": "sylables"}},
        {"target": {"kind": "tokenizers"}},
        {"source_symbols": "ab"},
        {"target_tokens": [1, 2]},
        {"target_tokens": None},
    ],
)
def test_other_json_is_refused(changed):
    with pytest.raises(ValueError, match="validation error"):
        Symbols.from_json(symbols().to_json() | changed)
