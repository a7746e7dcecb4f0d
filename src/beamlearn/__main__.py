"""`python -m beamlearn`: the command line."""

from .cli.start import main

main()
