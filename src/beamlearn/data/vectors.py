"""Pretrained word vectors."""

import re
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..check import quoted, shortened
from .text import DataError, bare, iterate_lines, name_of, read_lines, unreadable

HEADER = re.compile(r"([0-9]{1,18}) ([0-9]{1,18}) ?")
DECIMAL = re.compile(r"[-+]?[0-9]*\.[0-9]+([eE][-+]?[0-9]+)?")
LISTS = (".vocab", ".words", ".txt")
TENSOR = "vectors"


def read_vectors(
    path: str | Path, words: Collection[str] | None = None
) -> tuple[list[str], Float[Tensor, "words dim"]]:
    """Read words and their vectors, all or those of `words`, in the order of the file.

    The name chooses the format:

    - ".npy": a matrix with one row per word;
    - ".safetensors": such a matrix as the tensor "vectors";
    - anything else: the text of word2vec and GloVe, plain or gzip, a word and its numbers on each
      line. A first line of two whole numbers is a header: count and dimension. Without it the
      first line gives the dimension; its word must have no space, later ones may.

    The words of a matrix are one per line in a file next to it, "<name>.vocab", "<name>.words" or
    "<name>.txt", whichever is found first. If a word occurs twice, the first vector counts.
    Nothing is unpickled.
    """
    suffix = Path(path).suffix
    if suffix not in (".npy", ".safetensors"):
        return read_text(path, words)
    matrix = read_npy(path) if suffix == ".npy" else read_safetensors(path)
    return chosen(path, matrix, words)


def read_text(
    path: str | Path, words: Collection[str] | None
) -> tuple[list[str], Float[Tensor, "words dim"]]:
    """Read the text format of word2vec and GloVe."""
    name, wanted = name_of(path), None if words is None else set(words)
    found: dict[str, Float[np.ndarray, " dim"]] = {}
    promised, dim, rows, between = None, 0, 0, " "
    with closing(iterate_lines(path)) as lines:
        for number, line in enumerate(lines, 1):
            text = bare(line, number)
            header = HEADER.fullmatch(text) if number == 1 else None
            if header:
                promised, dim = int(header[1]), int(header[2])
                continue
            if not rows:
                between = "\t" if "\t" in text else " "
                dim = dim or text.rstrip(between).count(between)
            word, numbers = split(text, between, dim, f"{name}:{number}")
            rows += 1
            if word not in found and (wanted is None or word in wanted):
                found[word] = vector(numbers, f"{name}:{number}")
    if not rows or promised not in (None, rows):
        raise DataError(
            f"{name}: The file must have vectors for {promised or 'some'} words, got {rows}; copy "
            "or download it again."
        )
    matrix = np.stack(list(found.values())) if found else np.zeros((0, dim), dtype=np.float32)
    return list(found), torch.from_numpy(matrix)


def split(text: str, between: str, dim: int, place: str) -> tuple[str, list[str]]:
    """Take the last `dim` fields of a line as numbers; the word, spaces and all, is the rest."""
    word, *numbers = text.rstrip(between).rsplit(between, dim) if dim else [text]
    excess = between in word and DECIMAL.fullmatch(word.rsplit(between, 1)[1])
    if not word or not numbers or len(numbers) != dim or excess:
        found = "no word" if not word else "more" if excess else len(numbers)
        raise DataError(
            f"{place}: A line must have a word and {dim or 'its'} numbers, as the header or the "
            f"first line says, got {found}; correct or remove the line."
        )
    return word, numbers


def vector(numbers: Sequence[str], place: str) -> Float[np.ndarray, " dim"]:
    """Turn the fields of a line into numbers."""
    try:
        with np.errstate(over="ignore"):  # what is too large is refused below
            row = np.array([float(number) for number in numbers], dtype=np.float32)
    except ValueError as error:
        raise DataError(
            f"{place}: A vector must consist of numbers, but {shortened(str(error))}; correct or "
            "remove the line."
        ) from error
    if not np.isfinite(row).all():
        wrong = numbers[int((~np.isfinite(row)).argmax())]
        raise DataError(
            f"{place}: A vector must consist of finite numbers, got {quoted(wrong)}; correct or "
            "remove the line."
        )
    return row


def read_npy(path: str | Path) -> Tensor:
    """Read a NumPy file that holds numbers."""
    try:
        with open(path, "rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise unreadable(str(path), error) from error
    except Exception as error:  # what a damaged header raises is as various as the damage
        raise DataError(
            f"{path}: A NumPy file with a matrix of numbers was expected, but it cannot be read "
            f"({shortened(str(error))}); save it again with `numpy.save`."
        ) from error
    if array.dtype.kind not in "fiu":
        raise DataError(
            f"{path}: A NumPy file with a matrix of numbers was expected, but it holds "
            f"{array.dtype}; save the vectors as float32."
        )
    with np.errstate(over="ignore"):  # what is too large is refused later
        return torch.from_numpy(array.astype(np.float32))


def read_safetensors(path: str | Path) -> Tensor:
    """Read the tensor "vectors" of a safetensors file."""
    try:
        with safe_open(str(path), framework="pt") as file:
            names = list(file.keys())
            if TENSOR in names:
                tensor: Tensor = file.get_tensor(TENSOR)
                return tensor.to(torch.float32)
    except OSError as error:
        raise unreadable(str(path), error) from error
    except SafetensorError as error:
        raise DataError(
            f"{path}: A safetensors file was expected, but it cannot be read "
            f"({shortened(str(error))}); save it again."
        ) from error
    raise DataError(
        f"{path}: A safetensors file must have a tensor called {TENSOR!r}, got "
        f"{', '.join(map(repr, names)) or 'none'}; save the matrix under that name."
    )


def chosen(
    path: str | Path, matrix: Tensor, words: Collection[str] | None
) -> tuple[list[str], Float[Tensor, "words dim"]]:
    """Combine the rows of a matrix with its list of words."""
    if matrix.dim() != 2:
        raise DataError(
            f"{path}: Vectors must be a matrix with one row per word, got the shape "
            f"{tuple(matrix.shape)}; save two dimensions, words and numbers."
        )
    names = word_list(Path(path), len(matrix))
    first = {word: row for row, word in reversed(list(enumerate(names)))}
    wanted = None if words is None else set(words)
    rows = sorted(row for word, row in first.items() if wanted is None or word in wanted)
    matrix = matrix[rows]
    finite = torch.isfinite(matrix).all(dim=1)
    if not bool(finite.all()):
        row = rows[int((~finite).nonzero()[0, 0])]
        raise DataError(
            f"{path}: Vectors must consist of finite numbers, but that of {names[row]!r} (row "
            f"{row + 1}) does not; correct or remove it."
        )
    return [names[row] for row in rows], matrix


def word_list(path: Path, rows: int) -> list[str]:
    """The words that belong to the rows of a matrix."""
    beside = [path.with_suffix(suffix) for suffix in LISTS]
    source = next((candidate for candidate in beside if candidate.is_file()), None)
    if source is None:
        raise DataError(
            f"{path}: A matrix needs a list of its words next to it, one per line, but there is no "
            f"{' or '.join(candidate.name for candidate in beside)}; write one."
        )
    words = [bare(line, number) for number, line in enumerate(read_lines(source), 1)]
    if len(words) != rows:
        raise DataError(
            f"{source}: The list must have one word per line for each of the {rows} rows of "
            f"{path.name}, got {len(words)}; write the list again."
        )
    for number, word in enumerate(words, 1):
        if not word:
            raise DataError(
                f"{source}:{number}: Every line needs a word, but this one is empty; write the "
                f"word of row {number}."
            )
    return words
