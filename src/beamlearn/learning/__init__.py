"""Learning: trajectories, the meta-algorithm as a generator of rounds, iterates, optimizers."""
