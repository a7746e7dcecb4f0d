"""Check what is in the wheel and in the source distribution, and say how large they are.

    python .ci/distributions.py dist

The wheel must have the files of the package and nothing else, and the source distribution every
file of the repository.
"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
MADE = {"PKG-INFO", "setup.cfg"}
"""What setuptools adds to a source distribution."""


def tracked(*folders: str) -> set[str]:
    """The files that git knows, or would add."""
    found = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {name for name in found.split("\0") if name and (ROOT / name).is_file()}


def in_wheel(path: Path) -> set[str]:
    """The files of a wheel as the repository names them, without those about it."""
    with zipfile.ZipFile(path) as wheel:
        return {f"src/{name}" for name in wheel.namelist() if ".dist-info/" not in name}


def in_sdist(path: Path) -> set[str]:
    """The files of a source distribution, without those about it."""
    with tarfile.open(path) as packed:
        names = {one.name.partition("/")[2] for one in packed.getmembers() if one.isfile()}
    return {name for name in names if name not in MADE and ".egg-info/" not in name}


def differences(found: set[str], expected: set[str], name: str) -> list[str]:
    """A line for each file that is there or missing by mistake."""
    return [
        *(f"{name}: {file} is missing" for file in sorted(expected - found)),
        *(f"{name}: {file} should not be in it" for file in sorted(found - expected)),
    ]


def main(folder: Path) -> int:
    """Check both in a folder; the exit status."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    wrong = [
        *differences(in_wheel(wheel), tracked("src/beamlearn"), wheel.name),
        *differences(in_sdist(sdist), tracked(), sdist.name),
    ]
    print("\n".join(wrong), end="\n" if wrong else "")
    for path, files in ((wheel, in_wheel(wheel)), (sdist, in_sdist(sdist))):
        print(f"{path.name}: {len(files):,} files, {path.stat().st_size / 1e6:.2f} MB")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
