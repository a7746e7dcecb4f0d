import gzip
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

from beamlearn.data.text import DataError
from beamlearn.data.vectors import read_vectors

TEXT = "the 1 2.5\n. . . -1e-2 0\ndog 3 4\n"
WORDS = ["the", ". . .", "dog"]
MATRIX = torch.tensor([[1.0, 2.5], [-0.01, 0.0], [3.0, 4.0]])


def check(path, words=None, expected=(0, 1, 2)):
    names, matrix = read_vectors(path, words)
    assert names == [WORDS[row] for row in expected]
    assert matrix.dtype == torch.float32
    assert torch.equal(matrix, MATRIX[list(expected)])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.txt"


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "3 2\n" + TEXT,
        "3 2 \n" + TEXT.replace("\n", " \n"),
        "\ufeff" + TEXT.replace("\n", "\r\n"),
        TEXT.rstrip("\n"),
        "the\t1\t2.5\n. . .\t-1e-2\t0\ndog\t3\t4\n",
        TEXT + "the 8 9\n",
    ],
)
def test_text(path, text):
    path.write_bytes(text.encode())
    check(path)
    check(str(path), words={"dog", "the", "cat"}, expected=(0, 2))
    check(path, words=["cat"], expected=())
    path.write_bytes(gzip.compress(text.encode()))
    check(path)


def test_words_are_cut_at_spaces_only(path):
    path.write_bytes("a\xa0b 1\n\u2028 2\n\x85 3\n".encode())
    assert read_vectors(path)[0] == ["a\xa0b", "\u2028", "\x85"]


@given(
    st.dictionaries(
        st.text(alphabet="ab\x85\u2028é", min_size=1, max_size=3),
        st.lists(st.floats(-9, 9, width=32), min_size=2, max_size=2),
        min_size=1,
    )
)
def test_what_is_written_is_read(tmp_path_factory, table):
    path = tmp_path_factory.getbasetemp() / "generated.vec"
    rows = [f"{word} {' '.join(map(repr, row))}\n" for word, row in table.items()]
    path.write_bytes("".join(rows).encode())
    names, matrix = read_vectors(path)
    assert names == list(table)
    assert torch.equal(matrix, torch.tensor(list(table.values())))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"vectors\.txt: The file must have vectors for some words, got 0"),
        ("4 2\n" + TEXT, "must have vectors for 4 words, got 3; copy or download"),
        ("2 2\n" + TEXT, "must have vectors for 2 words, got 3"),
        ("the\n", r"vectors\.txt:1: A line must have a word and its numbers, .* got 0"),
        (TEXT + "cat 1\n", r"vectors\.txt:4: .* a word and 2 numbers, .* got 1"),
        (TEXT + "cat 0.1 0.2 0.3\n", "txt:4: .* a word and 2 numbers, .* got more"),
        (TEXT + " 1 2\n", "txt:4: .* got no word"),
        (TEXT + "\n", "txt:4: .* got no word"),
        ("3 3\n" + TEXT, "txt:2: .* a word and 3 numbers, .* got 2"),
        (TEXT + "cat x 2\n", "txt:4: A vector must consist of numbers, but could not .*'x'"),
        (TEXT + "cat 1 nan\n", "txt:4: A vector must consist of finite numbers, got 'nan'"),
        (TEXT + "cat 1e99 1\n", "got '1e99'"),
    ],
)
def test_what_is_wrong_with_a_text(path, text, message):
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_vectors(path)


def test_text_that_cannot_be_read(tmp_path, path):
    with pytest.raises(DataError, match="There is no such file"):
        read_vectors(path)
    path.write_bytes(b"a 1\n\xe9 2\n")
    with pytest.raises(DataError, match=r"txt:2: Text must be encoded in UTF-8"):
        read_vectors(path)


def matrix_file(folder, suffix, matrix=MATRIX, words=WORDS, beside=".vocab", name="vectors"):
    path = folder / f"m{suffix}"
    if suffix == ".npy":
        np.save(path, matrix.numpy())
    else:
        save_file({name: matrix.contiguous()}, path)
    if words is not None:
        path.with_suffix(beside).write_bytes("".join(word + "\n" for word in words).encode())
    return path


both = pytest.mark.parametrize("suffix", [".npy", ".safetensors"])


@both
@pytest.mark.parametrize("beside", [".vocab", ".words", ".txt"])
def test_matrices(tmp_path, suffix, beside):
    path = matrix_file(tmp_path, suffix, beside=beside)
    check(path)
    check(str(path), words={"dog", "the", "cat"}, expected=(0, 2))
    check(path, words=[], expected=())


@both
def test_kinds_of_numbers(tmp_path, suffix):
    check(matrix_file(tmp_path, suffix, MATRIX.double()))
    assert read_vectors(matrix_file(tmp_path, suffix, MATRIX.int()))[1].dtype == torch.float32
    read_vectors(matrix_file(tmp_path, ".safetensors", MATRIX.bfloat16()))


@both
def test_the_first_of_two_equal_words_counts(tmp_path, suffix):
    names, matrix = read_vectors(matrix_file(tmp_path, suffix, words=["a", "b", "a"]))
    assert names == ["a", "b"]
    assert torch.equal(matrix, MATRIX[:2])


@both
def test_what_is_wrong_with_a_matrix(tmp_path, suffix):
    path = matrix_file(tmp_path, suffix, words=None)
    with pytest.raises(DataError, match=r"there is no m\.vocab or m\.words or m\.txt; write one"):
        read_vectors(path)
    path = matrix_file(tmp_path, suffix, words=["a"])
    with pytest.raises(DataError, match=r"m\.vocab: .* for each of the 3 rows of m\..* got 1"):
        read_vectors(path)
    path = matrix_file(tmp_path, suffix, words=["a", "", "b"])
    with pytest.raises(DataError, match=r"m\.vocab:2: Every line needs a word"):
        read_vectors(path)
    path = matrix_file(tmp_path, suffix, matrix=MATRIX[0])
    with pytest.raises(DataError, match=r"one row per word, got the shape \(2,\)"):
        read_vectors(path)
    path = matrix_file(tmp_path, suffix, matrix=MATRIX.double() * 1e99)
    with pytest.raises(DataError, match=r"finite numbers, but that of 'the' \(row 1\) does not"):
        read_vectors(path)
    path.write_bytes(b"junk")
    with pytest.raises(DataError, match="was expected, but it cannot be read"):
        read_vectors(path)
    path.unlink()
    with pytest.raises(DataError, match="There is no such file"):
        read_vectors(path)


def test_nothing_is_unpickled(tmp_path):
    path = matrix_file(tmp_path, ".npy")
    np.save(path, np.array([object()]), allow_pickle=True)
    with pytest.raises(DataError, match="matrix of numbers was expected, but it cannot be read"):
        read_vectors(path)
    path.write_bytes(pickle.dumps([1]))
    with pytest.raises(DataError, match="matrix of numbers was expected, but it cannot be read"):
        read_vectors(path)
    np.save(path, np.array([["a"]]))
    with pytest.raises(DataError, match="matrix of numbers was expected, but it holds <U1"):
        read_vectors(path)


def test_the_tensor_has_another_name(tmp_path):
    path = matrix_file(tmp_path, ".safetensors", name="weight")
    with pytest.raises(DataError, match="called 'vectors', got 'weight'"):
        read_vectors(path)


@pytest.mark.parametrize("shape", ["(3, 2", "(3, 2)]", "(10000000000000, 2)", "'x'", "(3,,2)"])
def test_a_damaged_header_of_numpy(tmp_path, shape):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path = tmp_path / "vectors.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + header.encode() + bytes(24))
    with pytest.raises(DataError, match="vectors.npy: A NumPy file with a matrix .* save it again"):
        read_vectors(path)


@pytest.mark.parametrize("number", ["9" * 5000, "x" * 5000])
def test_a_number_that_fills_the_line_is_not_repeated(tmp_path, number):
    path = tmp_path / "vectors.txt"
    path.write_text(f"the 1 {number}\n")
    with pytest.raises(DataError, match=r"vectors.txt:1: A vector must .*\.\.\.") as error:
        read_vectors(path)
    assert len(str(error.value)) < 600


def test_a_header_of_thousands_of_digits(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(f"3 {'9' * 5000}\nthe 1 2\n")
    with pytest.raises(DataError, match="vectors.txt:"):
        read_vectors(path)
