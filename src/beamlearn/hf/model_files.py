"""The files of a model but for its weights, as data that a run folder keeps."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, final

from pydantic import AfterValidator, Base64Bytes, TypeAdapter

GENERATION = "generation_config.json"


def check_name(name: str) -> str:
    """Refuse a name that could lead out of a folder, or be taken for code.

    >>> check_name("tokenizer.json")
    'tokenizer.json'
    """
    if not re.fullmatch(r"\w[\w.-]*", name) or name.endswith(".py"):
        raise ValueError(f"a file of a model must have a plain name, got {name!r}")
    return name


Name = Annotated[str, AfterValidator(check_name)]


@final
@dataclass(frozen=True)
class ModelFiles:
    """Configurations and the files of a tokenizer, by their names."""

    texts: dict[Name, str] = field(repr=False)
    binaries: dict[Name, Base64Bytes] = field(repr=False)
    """Those that are no text, such as models of sentencepiece."""

    @classmethod
    def read(cls, folder: Path) -> "ModelFiles":
        """All files in a folder."""
        texts: dict[str, str] = {}
        binaries: dict[str, bytes] = {}
        for path in sorted(path for path in folder.iterdir() if path.is_file()):
            data = path.read_bytes()
            try:
                texts[path.name] = data.decode()
            except UnicodeDecodeError:
                binaries[path.name] = data
        return cls(texts, binaries)

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "ModelFiles":
        """Read what `to_json` wrote; ValueError if it is anything else."""
        return TypeAdapter(cls).validate_python(facts)

    def to_json(self) -> dict[str, Any]:
        """The same as a value for a JSON file."""
        facts: dict[str, Any] = TypeAdapter(ModelFiles).dump_python(self, mode="json")
        return facts

    def write(self, folder: Path) -> Path:
        """Write them into a folder; return it."""
        for name, text in self.texts.items():
            (folder / name).write_bytes(text.encode())
        for name, data in self.binaries.items():
            (folder / name).write_bytes(data)
        return folder
