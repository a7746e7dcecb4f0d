"""From a pattern to its syntax, by recursive descent."""

from .alphabet import Alphabet
from .pattern import Pattern, PatternError
from .syntax import InTurn, Letter, OneOf, Repeated, Syntax

DEEPEST = 30
"""How many groups may stand in each other."""
QUANTIFIERS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def parsed(text: str, alphabet: Alphabet) -> Syntax:
    """Read a whole pattern; refuse what is none."""
    return Parser(Pattern(text), alphabet).whole()


class Parser:
    """Reads one pattern."""

    def __init__(self, pattern: Pattern, alphabet: Alphabet) -> None:
        self.pattern, self.alphabet = pattern, alphabet

    def whole(self) -> Syntax:
        """The pattern to its end."""
        found = self.choice(0)
        if self.pattern.here:
            raise self.pattern.wrong(
                "a group ends that has not begun", "remove the ), or put a backslash before it"
            )
        return found

    def choice(self, depth: int) -> Syntax:
        """Parts with | between them."""
        parts = [self.turn(depth)]
        while self.pattern.skip("|"):
            parts.append(self.turn(depth))
        return parts[0] if len(parts) == 1 else OneOf(parts)

    def turn(self, depth: int) -> Syntax:
        """Parts that follow each other, up to a | or the end of the group."""
        parts = list[Syntax]()
        self.alphabet.blanks(self.pattern)
        while self.pattern.here not in ("", "|", ")"):
            parts.append(self.repeated(depth))
            self.alphabet.blanks(self.pattern)
        return InTurn(parts)

    def repeated(self, depth: int) -> Syntax:
        """A part, and how often it comes."""
        part = self.atom(depth)
        self.alphabet.blanks(self.pattern)
        if self.pattern.here in QUANTIFIERS and self.pattern.here:
            return Repeated(part, *QUANTIFIERS[self.pattern.take()])
        return self.counted(part) if self.pattern.skip("{") else part

    def counted(self, part: Syntax) -> Syntax:
        """{m}, {m,}, {,n} or {m,n}, after the bracket."""
        pattern, begin = self.pattern, self.pattern.place - 1
        least = pattern.number()
        most = least
        if pattern.skip(","):
            most = pattern.number()
        elif least is None:
            raise self.uncounted(begin)
        if not pattern.skip("}") or (most is not None and most < (least or 0)):
            raise self.uncounted(begin)
        return Repeated(part, least or 0, most)

    def uncounted(self, begin: int) -> PatternError:
        """The error for brackets without proper numbers."""
        return self.pattern.wrong(
            "a repetition has no proper numbers",
            "write it as in {2}, {2,} or {2,5}, or put a backslash before it",
            begin,
        )

    def atom(self, depth: int) -> Syntax:
        """A letter, a class or a group."""
        pattern, here = self.pattern, self.pattern.here
        if here in QUANTIFIERS or here == "{":
            raise pattern.wrong(
                f"{here} has nothing to repeat", "put it after a symbol, a class or a group"
            )
        if here in ("^", "$"):
            raise pattern.wrong(
                f"{here} is not needed, as whole outputs are matched",
                "leave it out, or put a backslash before it",
            )
        if here in ("]", "}"):
            raise pattern.wrong(f"a {here} has no beginning", "put a backslash before it")
        if pattern.skip("("):
            return self.group(depth + 1)
        if pattern.skip("."):
            return Letter(self.alphabet.any)
        if pattern.skip("["):
            return Letter(self.alphabet.choice(pattern))
        return Letter(self.alphabet.literal(pattern))

    def group(self, depth: int) -> Syntax:
        """What stands in parentheses, after the first one."""
        pattern, begin = self.pattern, self.pattern.place - 1
        if depth > DEEPEST:
            raise pattern.wrong(f"more than {DEEPEST} groups stand in each other", "use fewer")
        if pattern.skip("?") and not pattern.skip(":"):
            raise pattern.wrong("a group has a meaning of its own", "use plain groups", begin)
        found = self.choice(depth)
        if not pattern.skip(")"):
            raise pattern.wrong("a group begins that has no end", "add a )", begin)
        return found
