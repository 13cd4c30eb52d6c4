"""LatentCoincidence beside other maps: `python -m benchmarks.coincidence --help`."""
