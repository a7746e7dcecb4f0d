"""What a training or a comparison comes to, without what depends on the speed of the machine."""

import json
from pathlib import Path
from typing import Any


def training_ending(run: Path) -> dict[str, Any]:
    """The bytes of the files of a run, and its metrics without speeds."""
    names = ("model.safetensors", "rounds.jsonl", "decoding.json", "config.json", "vocabulary.json")
    found: dict[str, Any] = {name: (run / name).read_bytes() for name in names}
    found["checkpoint"] = max((run / "checkpoint").iterdir()).read_bytes()
    return {**found, "metrics": steady(json.loads((run / "metrics.json").read_text()))}


def comparison_ending(out: Path) -> dict[str, Any]:
    """The table of a comparison, its rows, and the models of its trainings."""
    found: dict[str, Any] = {"table": (out / "table.md").read_bytes()}
    rows = (out / "results.jsonl").read_text().splitlines()
    found["rows"] = [steady(json.loads(row)) for row in rows]
    for run in sorted(path.parent for path in out.glob("*/config.json")):
        found[run.name] = [
            (run / name).read_bytes() for name in ("model.safetensors", "rounds.jsonl")
        ]
        found[f"{run.name} metrics"] = steady(json.loads((run / "metrics.json").read_text()))
    return found


def steady(value: Any) -> Any:
    """The same without numbers that end in "per_second"."""
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if not name.endswith("per_second")}
        return {name: steady(one) for name, one in kept.items()}
    return [steady(one) for one in value] if isinstance(value, list) else value
