"""Measurements behind the pages in results/.

Each is a module, or a package where it is long, and is run from the root of the repository as
`python -m benchmarks.NAME`; `--help` says what it takes. What several need is in `common`.
"""
