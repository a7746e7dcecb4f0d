"""Random seeds that depend on a position, not on what was drawn before."""

from hashlib import blake2b


def seed_of(seed: int, what: str, position: int) -> int:
    """Derive the seed of a random generator from `seed`, its purpose and a position."""
    digest = blake2b(f"{seed}/{what}/{position}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
