"""How good a policy is: costs, calibration, significance, and where it goes wrong."""
