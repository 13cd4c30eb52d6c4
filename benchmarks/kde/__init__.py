"""Density queries against peers: `python -m benchmarks.kde --help`."""
