"""The command line: what a shell can ask of the library."""

from .start import main as main
