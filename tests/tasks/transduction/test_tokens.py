import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from beamlearn.data.text import DataError
from beamlearn.tasks.transduction.tokens import (
    AnyTokenizer,
    Characters,
    HuggingFace,
    SentencePiece,
    Tokenizer,
    TokensName,
    Words,
    check_tokens,
    read_tokenizer,
)

TEXTS = ["the cat sat", "a cat ate the rat", "that hat", "the rat that ate"]
ADAPTER = TypeAdapter(AnyTokenizer)


@pytest.fixture(scope="module")
def sentencepiece_file(tmp_path_factory):
    """A small model of sentencepiece."""
    sentencepiece = pytest.importorskip("sentencepiece")
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 5),
        model_writer=written,
        model_type="bpe",
        vocab_size=25,
        minloglevel=2,
    )
    path = tmp_path_factory.mktemp("sentencepiece") / "bpe.model"
    path.write_bytes(written.getvalue())
    return path


def byte_level(dropout=None):
    """A small tokenizer of Hugging Face."""
    tokenizers = pytest.importorskip("tokenizers")
    found = tokenizers.Tokenizer(tokenizers.models.BPE(dropout=dropout))
    found.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = tokenizers.decoders.ByteLevel()
    letters = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=270,
        special_tokens=["[PAD]", "[END]"],
        initial_alphabet=letters,
        show_progress=False,
    )
    found.train_from_iterator(TEXTS * 5, trainer)
    return found


@pytest.fixture(scope="module")
def tokenizers_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizers") / "tokenizer.json"
    byte_level().save(str(path))
    return path


@pytest.fixture(params=["characters", "words", "sentencepiece_file", "tokenizers_file"])
def any_name(request):
    name = request.param
    return str(request.getfixturevalue(name)) if name.endswith("_file") else name


# --- all kinds ----------------------------------------------------------------------------------


def test_an_empty_text_has_no_tokens(any_name):
    tokenizer = read_tokenizer(any_name)
    assert isinstance(tokenizer, Tokenizer)
    assert tokenizer.cut("") == []
    assert tokenizer.join([]) == ""


@pytest.mark.parametrize("text", [*TEXTS, "rat", "é 猫 the"])
def test_single_spaces_come_back(any_name, text):
    tokenizer = read_tokenizer(any_name)
    tokens = tokenizer.cut(text)
    assert all(isinstance(token, str) and token for token in tokens)
    assert tokenizer.join(tokens) == text


def test_json_is_all_that_is_needed(any_name):
    one = read_tokenizer(any_name)
    written = json.dumps(ADAPTER.dump_python(one, mode="json"))
    two = ADAPTER.validate_python(json.loads(written))
    assert two == one
    assert type(two) is type(one)
    for text in (*TEXTS, "new é", ""):
        assert two.cut(text) == one.cut(text)
        assert two.join(one.cut(text)) == one.join(one.cut(text))
    assert len(repr(two)) < 60  # without the bytes of a model


# --- characters and words -----------------------------------------------------------------------


@given(st.text())
def test_characters_lose_nothing(text):
    found = Characters()
    assert found.join(found.cut(text)) == text
    assert all(len(token) == 1 for token in found.cut(text))


def test_characters_are_code_points():
    assert Characters().cut("e\u0301 𝄞") == ["e", "\u0301", " ", "𝄞"]


@given(st.text("ab \t\n\r\f\v\xa0\u3000\u2028\x85\x1c"))
def test_words_lose_spaces_alone(text):
    found = Words()
    words = found.cut(text)
    assert found.cut(found.join(words)) == words
    assert all(words)
    plain = [character for character in text if character not in " \t\n\r\f\v"]
    assert list("".join(words)) == plain


def test_words_may_have_other_spaces_in_them():
    assert Words().cut("  10\xa0000   d͡ʒ\t") == ["10\xa0000", "d͡ʒ"]


# --- models of subwords -------------------------------------------------------------------------


def test_sentencepiece(sentencepiece_file):
    found = read_tokenizer(str(sentencepiece_file))
    assert found == SentencePiece(sentencepiece_file.read_bytes())
    tokens = found.cut("the  cat\xa0sat")
    assert len(tokens) < len("the cat sat")
    assert tokens[0].startswith("▁")
    assert found.join(tokens) == "the cat sat"  # as the model normalizes it


def test_tokenizers(tokenizers_file):
    found = read_tokenizer(str(tokenizers_file))
    assert found == HuggingFace(tokenizers_file.read_bytes())
    assert len(found.cut("the cat")) < len("the cat")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_at_the_level_of_bytes_nothing_is_lost(tokenizers_file, text):
    found = read_tokenizer(str(tokenizers_file))
    assert found.join(found.cut(text)) == text


def test_tokens_do_not_depend_on_what_else_the_file_says(tmp_path, tokenizers_file):
    plain = read_tokenizer(str(tokenizers_file))
    tokenizers = pytest.importorskip("tokenizers")
    odd = byte_level(dropout=0.9)
    odd.enable_truncation(2)
    odd.enable_padding(length=30, pad_token="[PAD]")
    odd.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A [END]", special_tokens=[("[END]", 1)]
    )
    odd.save(str(tmp_path / "odd.json"))
    assert "[PAD]" in odd.encode("the").tokens
    found = read_tokenizer(str(tmp_path / "odd.json"))
    assert [found.cut(text) for text in TEXTS * 3] == [plain.cut(text) for text in TEXTS * 3]


def word_level(**options):
    tokenizers = pytest.importorskip("tokenizers")
    found = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "[UNK]": 1}, **options))
    found.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return HuggingFace(found.to_str().encode())


def test_without_a_decoder_tokens_are_joined_as_words():
    found = word_level(unk_token="[UNK]")
    assert found.cut("a b  a") == ["a", "[UNK]", "a"]
    assert found.join(["a", "[UNK]", "a"]) == "a [UNK] a"


def test_what_cannot_be_cut_is_told():
    found = word_level(unk_token="[NONE]")
    assert found.cut("a a") == ["a", "a"]
    message = (
        "^The tokenizer must be able to cut every text, but it failed on 'a b' .* unknown text.$"
    )
    with pytest.raises(DataError, match=message):
        found.cut("a b")


# --- names and files ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["characters", "words", "a.model", "some where/b.json"])
def test_names(name):
    assert check_tokens(name) == name
    assert TypeAdapter(TokensName).validate_python(name) == name


@pytest.mark.parametrize("name", ["charcters", "Words", "", "model", ".model", "bpe.txt", "a.JSON"])
def test_other_names_are_refused(name):
    message = f"There is no kind of tokens called '{name}'.*Known: characters, words, FILE.model, "
    with pytest.raises(ValueError, match="^" + message):
        read_tokenizer(name)
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(TokensName).validate_python(name)


def test_misspelled_names_get_the_nearest_one():
    with pytest.raises(ValueError, match="Did you mean 'characters'?"):
        check_tokens("charcters")


@pytest.mark.parametrize("name", ["none.model", "none.json"])
def test_no_file(tmp_path, name):
    with pytest.raises(DataError, match=f"{name}: There is no such file"):
        read_tokenizer(str(tmp_path / name))
    (tmp_path / name).mkdir()
    with pytest.raises(DataError, match=f"{name}: A file was expected, got a folder"):
        read_tokenizer(str(tmp_path / name))


@pytest.mark.parametrize("content", [b"", b"junk", b"\0" * 99, b"{}", b'{"model": 3}', b"[]"])
@pytest.mark.parametrize(
    ("package", "name", "message"),
    [
        ("sentencepiece", "a.model", "a.model: This is not a sentencepiece model"),
        ("tokenizers", "a.json", "a.json: This is not a Hugging Face tokenizer"),
    ],
)
def test_files_of_another_kind(tmp_path, content, package, name, message):
    pytest.importorskip(package)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_tokenizer(str(tmp_path / name))


@pytest.mark.parametrize(
    ("package", "name"), [("sentencepiece", "a.model"), ("tokenizers", "a.json")]
)
def test_packages_that_are_not_installed(tmp_path, monkeypatch, package, name):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, package, None)
    message = rf"{name}: These tokens need the package '{package}', .* 'beamlearn\[subwords\]'`.$"
    with pytest.raises(DataError, match=message):
        read_tokenizer(str(tmp_path / name))


@pytest.mark.parametrize(
    "facts", [{}, {"kind": "sylables"}, {"kind": "sentencepiece"}, {"kind": "tokenizers"}, 3, None]
)
def test_other_json_is_refused(facts):
    with pytest.raises(ValueError, match="validation error"):
        ADAPTER.validate_python(facts)
