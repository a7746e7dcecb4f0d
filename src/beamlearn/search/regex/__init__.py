"""Regular expressions: from their text to a table of states."""
