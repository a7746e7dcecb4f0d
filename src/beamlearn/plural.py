"""Numbers of things in words."""


def counted(number: int, one: str, several: str | None = None) -> str:
    """So many things.

    >>> counted(1, "pair"), counted(2000, "pair"), counted(0, "entry", "entries")
    ('1 pair', '2,000 pairs', '0 entries')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"
