"""What the commands do; loaded, and torch with it, when one of them runs."""
