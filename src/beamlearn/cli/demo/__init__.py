"""The two-minute story: one network, trained without and with the beam, on real conversations."""

from .story import run_demo as run_demo
