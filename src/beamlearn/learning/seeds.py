"""Random numbers that depend on a place and not on a past."""

from hashlib import blake2b


def seed_of(seed: int, what: str, position: int) -> int:
    """A number for a random generator, made of the seed and what it is for."""
    digest = blake2b(f"{seed}/{what}/{position}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
