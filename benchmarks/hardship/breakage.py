"""Ways to break a file: bytes that are wrong, missing, too many, or in the wrong place."""

import gzip
import io
import random
from collections.abc import Callable, Sequence

Break = Callable[[bytes, random.Random], bytes]
LONG, DEEP, BOMB = 200_000, 20_000, 2_000_000
"""Bytes in a line, brackets in each other, and bytes that a small gzip file unpacks to."""
HUGE = (b"9" * 5000, b"1e999", b"-1", b"0", b"18446744073709551616", b"nan", b"1_000", b"\xd9\xa3")
"""Numbers that are hard to read; the last is a digit of Arabic."""
JUNK = (b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\r", b"\xe2\x80\xa8", b"\x1b[2J", b"\x85")
"""A NUL, bytes that are no UTF-8, and characters that some take for the end of a line."""
NEST = ((b"[", b"]"), (b'{"a":', b"}"), (b"a = [", b"]"))


def flip(data: bytes, draw: random.Random) -> bytes:
    """Turn one to four bits around."""
    changed = bytearray(data or b"\x00")
    for _ in range(draw.randint(1, 4)):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def cut(data: bytes, draw: random.Random) -> bytes:
    """Leave out the end."""
    return data[: draw.randint(0, len(data))]


def delete(data: bytes, draw: random.Random) -> bytes:
    """Leave out some bytes in the middle."""
    start = draw.randint(0, len(data))
    return data[:start] + data[start + draw.randint(1, 40) :]


def insert(data: bytes, draw: random.Random) -> bytes:
    """Put junk or a huge number somewhere."""
    place = draw.randint(0, len(data))
    return data[:place] + draw.choice(JUNK + HUGE) + data[place:]


def overwrite(data: bytes, draw: random.Random) -> bytes:
    """Put random bytes in place of others."""
    place, size = draw.randint(0, len(data)), draw.randint(1, 16)
    return data[:place] + draw.randbytes(size) + data[place + size :]


def lines_of(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) or [b""]


def shuffle(data: bytes, draw: random.Random) -> bytes:
    """Put the lines in another order."""
    lines = lines_of(data)
    draw.shuffle(lines)
    return b"".join(lines)


def repeat(data: bytes, draw: random.Random) -> bytes:
    """Write a line several times."""
    lines = lines_of(data)
    place = draw.randrange(len(lines))
    lines[place] *= draw.randint(2, 5)
    return b"".join(lines)


def drop_line(data: bytes, draw: random.Random) -> bytes:
    """Leave out a line."""
    lines = lines_of(data)
    del lines[draw.randrange(len(lines))]
    return b"".join(lines)


def change_field(data: bytes, draw: random.Random) -> bytes:
    """Put something else in place of a field: what tabs, spaces, quotes, commas or equals end."""
    separator = draw.choice((b"\t", b" ", b'"', b",", b"="))
    fields = data.split(separator)
    wrong = (*HUGE, *JUNK, b"", b"_", b"null", b"[]", b"{}", b'"x"', b"true", b"3.5", b"#")
    fields[draw.randrange(len(fields))] = draw.choice(wrong)
    return separator.join(fields)


def long_line(data: bytes, draw: random.Random) -> bytes:
    """Make one line very long."""
    place = draw.randint(0, len(data))
    return data[:place] + draw.choice((b"x", b"\t", b" ", b"1", b"#", b'"')) * LONG + data[place:]


def nest(data: bytes, draw: random.Random) -> bytes:
    """Put brackets in brackets, alone or in place of a value."""
    opened, closed = draw.choice(NEST)
    depth = draw.choice((10, 500, DEEP))
    nested = opened * depth + b"1" + closed * draw.choice((depth, 0))
    place = draw.randint(0, len(data))
    return draw.choice((nested, data[:place] + nested + data[place:]))


def mark(data: bytes, draw: random.Random) -> bytes:
    """Begin with a byte-order mark, or write another encoding."""
    text = data.decode("utf-8", "replace")
    others = [text.encode(name) for name in ("utf-16", "utf-32", "utf-16-be")]
    return draw.choice([b"\xef\xbb\xbf" + data, b"\xef\xbb\xbf" * 2 + data, *others])


def carriage_returns(data: bytes, draw: random.Random) -> bytes:
    """End lines in another way."""
    return data.replace(b"\n", draw.choice((b"\r\n", b"\r", b"\n\r", b"\n\n", b"\r\r\n", b"")))


def pack(data: bytes, draw: random.Random) -> bytes:
    """Pack with gzip, and break that: cut it off, flip bits, or add junk."""
    packed = gzip.compress(data, 1)
    damage = draw.choice((flip, cut, overwrite, same, append))
    return damage(packed, draw)


def bomb(data: bytes, draw: random.Random) -> bytes:
    """A small gzip file that unpacks to a large one."""
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", mtime=0) as file:
        file.write(data)
        file.write(draw.choice((b"\x00", b"x", b"\t", b"\n", b"1 ")) * BOMB)
    return made.getvalue()


def same(data: bytes, draw: random.Random) -> bytes:
    """As it is."""
    return data


def append(data: bytes, draw: random.Random) -> bytes:
    """Add junk at the end."""
    return data + draw.randbytes(draw.randint(1, 30))


def replace(data: bytes, draw: random.Random) -> bytes:
    """Something else altogether."""
    made = (
        b"",
        b"\n" * draw.randint(1, 9),
        b" ",
        b"\x00" * 9,
        draw.randbytes(draw.randint(1, 200)),
    )
    return draw.choice(made)


BREAKS: Sequence[Break] = (
    *(flip, cut, delete, insert, overwrite, shuffle, repeat, drop_line, change_field, change_field),
    *(long_line, nest, mark, carriage_returns, pack, replace),
)
"""Those that cost little; `bomb` is for a few cases."""
RARE = 200
"""One case in so many is a `bomb`."""


def broken(data: bytes, draw: random.Random) -> bytes:
    """Break a file in one to three ways."""
    if not draw.randrange(RARE):
        return bomb(data, draw)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        data = draw.choice(BREAKS)(data, draw)
    return data
