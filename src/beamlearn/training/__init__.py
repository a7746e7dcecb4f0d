"""Training to the end: settings, epochs, validation, progress, and the run folder."""
