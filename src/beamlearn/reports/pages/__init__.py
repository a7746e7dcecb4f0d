"""Web pages that stand alone: one file each, and nothing on them is fetched from elsewhere."""

from .render import Markup as Markup
from .render import render as render
