"""What several benchmarks need; each file can be imported alone.

- `command`: options that many have, and the command line as a page shows it
- `pages`: pages of results, with machine, versions, date and command
- `sets`, `splits`, `scaling`: which data sets are here, their parts, and the units of these
- `children`, `leash`: work in a fresh process, which ends with the benchmark
- `environments`: interpreters that have other packages
- `timing`, `memory`, `judging`, `means`: what is measured, and how it is written
- `arrays`, `records`: files that pass arrays to a process, and that keep what was measured
- `yardsticks`: what the machine can do, and the same work in plain NumPy

`memory`, `arrays` and `judging` are imported in other environments, too: the first needs nothing
but Python there, the second NumPy, the third SciPy and scikit-learn beside it.
"""
