"""The text of a regular expression, read from left to right."""

from dataclasses import dataclass

from ...check import UsageError, quoted

SPECIAL = frozenset(".|*+?{}()[]^$\\")
"""What has a meaning of its own; a backslash before it takes that away."""


class PatternError(UsageError):
    """A regular expression that cannot be used; the message says where and why."""


@dataclass
class Pattern:
    """A text and how far it has been read."""

    text: str
    place: int = 0

    @property
    def here(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.place : self.place + 1]

    def take(self) -> str:
        """Read the next character."""
        self.place += 1
        return self.text[self.place - 1]

    def skip(self, text: str) -> bool:
        """Read a text if it comes next."""
        found = self.text.startswith(text, self.place)
        self.place += len(text) * found
        return found

    def number(self) -> int | None:
        """Read a number; None: there is none."""
        begin = self.place
        while self.here and self.here in "0123456789":
            self.place += 1
        return int(self.text[begin : self.place][:9]) if self.place > begin else None

    def wrong(self, what: str, remedy: str, place: int | None = None) -> PatternError:
        """The error for what was just read, or what stands at a place."""
        at = (self.place if place is None else place) + 1
        return PatternError(
            f"`pattern` must be a regular expression over the symbols of outputs, got "
            f"{quoted(self.text)}, where {what} at character {at}; {remedy}.",
            "pattern",
        )
