"""Where answers go, as people say it."""

import os
from dataclasses import dataclass
from pathlib import Path

from ..engines.part import Part
from ..training.settings import SettingsError
from .input import Input
from .part import path_of


@dataclass(frozen=True)
class Target:
    """A file, maybe a part of one, or no file; and a file for bad sentences."""

    output: str
    skip_bad: Path | None = None
    resume: bool = False
    part: Part | None = None

    @property
    def path(self) -> Path | None:
        """The file to write; None: it is no file, and what is written is gone."""
        path = Path(os.path.realpath(self.output))
        if self.output == "-" or (path.exists() and not path.is_file()):
            return None
        return self.named(path)

    @property
    def bad(self) -> Path | None:
        """The file for bad sentences."""
        return self.skip_bad and self.named(Path(os.path.realpath(self.skip_bad)))

    @property
    def keeps_journal(self) -> bool:
        """Does somebody ask it later what was done: the same command again, or `join`?"""
        return self.resume or self.part is not None

    def named(self, path: Path) -> Path:
        """The path, or that of its part."""
        return path if self.part is None else path_of(self.part, path)

    def check(self, input: Input) -> None:
        """Refuse to go on with what cannot be read or written again."""
        asked = [name for name in ("resume", "part") if getattr(self, name)]
        if asked and not (input.kept and self.path is not None):
            got = input.name if not input.kept else f"`output` = {self.output}"
            raise SettingsError(
                f"`{asked[0]}` needs a file as INPUT, and another one as `output`, got {got}; give "
                f"both, or leave out `{asked[0]}`."
            )
