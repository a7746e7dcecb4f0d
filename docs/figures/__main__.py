"""Write all figures again."""

from pathlib import Path

from . import demo, pictures, rooms

FOLDER = Path(__file__).parent

for name, draw in {**pictures.PICTURES, "demo": demo.demo, "rooms": rooms.rooms}.items():
    (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
    print(f"docs/figures/{name}.svg")
