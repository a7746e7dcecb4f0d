"""Put the sources of the site together: `PYTHONPATH=docs python -m website FOLDER`."""

import sys
from pathlib import Path

from .assemble import assemble

assemble(Path(sys.argv[1]))
