"""The command line: what a shell can ask of the library."""

from .main import main as main
