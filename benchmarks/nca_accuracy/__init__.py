"""Test accuracy of NCA: `python -m benchmarks.nca_accuracy --help`."""
