"""A small tree to play with."""
