"""What servers of this package have in common: where they listen, and how they are isolated."""
