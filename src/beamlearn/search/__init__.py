"""One search: spaces, scorers, beams, and what happened on the way."""
