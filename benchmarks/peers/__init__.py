"""Whole fits against peers: `python -m benchmarks.peers --help`."""
