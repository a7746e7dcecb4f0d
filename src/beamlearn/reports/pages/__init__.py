"""Self-contained web pages: one file each, with nothing fetched from elsewhere."""

from .render import Markup as Markup
from .render import render as render
