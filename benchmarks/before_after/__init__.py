"""Two source trees in one run: `python -m benchmarks.before_after --help`."""
