"""Held-out log-likelihood of densities: `python -m benchmarks.density --help`."""
