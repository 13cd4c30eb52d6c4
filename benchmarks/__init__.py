"""Benchmarks that write the pages in results/.

Each is a module, or a package if it is long. Run it from the root of the repository as
`python -m benchmarks.NAME`; `--help` lists its options. Shared code is in `common`.
"""
