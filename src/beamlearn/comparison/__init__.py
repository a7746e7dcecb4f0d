"""Comparisons: the ways to train that a grid has, and what came of them."""

from .grid import Grid as Grid
from .plan import Cell as Cell
from .plan import Plan as Plan
from .plan import plan as plan
from .results import Comparison as Comparison
from .results import Verdict as Verdict
from .results import read_comparison as read_comparison
