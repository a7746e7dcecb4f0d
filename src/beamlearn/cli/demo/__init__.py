"""The two-minute story: one network, trained without and with the beam, on real conversations."""
