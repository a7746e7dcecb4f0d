"""The network parts that tasks share."""
