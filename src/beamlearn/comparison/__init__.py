"""Comparisons: the ways to train that a grid has, and what they lead to."""
