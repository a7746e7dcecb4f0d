"""A small shop: users go through its items in a circle, so that the next one can be learned."""

import gzip
import json

ITEMS = 12
IDS = {str(i): [f"<a_{i % 3}>", f"<b_{i % 4}>", f"<c_{i // 6}>"] for i in range(ITEMS)}
IDS["twin"] = IDS["11"]
SMALL = ["--size", 16, "--batch-size", 4, "--learning-rate", 0.02, "--dropout", 0.0]


def users(number=12, length=6):
    """User i begins with item i."""
    return {f"user {i}": [(i + step) % ITEMS for step in range(length)] for i in range(number)}


def write(folder, interactions=None, ids=None):
    """Write both files, one of them packed; return their paths."""
    inter, index = folder / "inter.json.gz", folder / "ids.json"
    inter.write_bytes(gzip.compress(json.dumps(interactions or users()).encode()))
    index.write_text(json.dumps(ids or IDS), encoding="utf-8")
    return inter, index
