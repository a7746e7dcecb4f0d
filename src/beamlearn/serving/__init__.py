"""Answer requests over HTTP: those that arrive together are searched together."""
