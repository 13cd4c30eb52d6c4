"""What comes in: checks of parameters, labels and pairs; starting maps."""
