"""`python -m beamlearn`: the command line."""

from .cli import main

main()
