"""Hardships that commands, files and the inspector have to bear; `endurance.py` runs them all."""
