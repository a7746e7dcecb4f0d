"""Dependency parsing: a tree over the words of a sentence, built by transitions."""
