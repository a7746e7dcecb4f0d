"""Real tasks: each a space, an oracle, scorers and a measure on the core engine."""
