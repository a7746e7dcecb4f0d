"""Ranking: the next items of a user, found among the ids of a catalogue."""
