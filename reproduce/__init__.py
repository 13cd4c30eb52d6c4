"""The papers' tables and figures, measured again and compared with the printed ones by a rule.

    python -m reproduce list                         # every item, and how much of it has been run
    python -m reproduce run ID [--quick]             # measure what is missing, write results
    python -m reproduce report                       # docs/results/papers*.md, pages of items

One item, from its settings to its verdicts:

    PAPER/config.toml      settings, full and quick            experiment.py, `units`
       │ every list is varied, `runs` counts seeds
    unit: a flat dict  ──►  measure(unit)  ──►  numbers        running.py, progress
       │                                          │
    results/MODE/ITEM.jsonl: a line for each unit              lines.py; never measured twice
       │
    gathered over a grid, if an item asks for it               means.py, `gathered`
       │
    means over seeds ──►  PAPER/expected.toml  ──►  verdicts   means.py, verdicts.py
       │
    ITEM.csv, ITEM.md, ITEM.png, ITEM.svg                      pages.py
    docs/results/papers.md, papers-figures.md                  report.py, gallery.py

A paper is a folder with a README, both TOML files and a value in the table of `papers.py`. An item
only provides a function that measures a unit and, if there is something to see, one that draws.
Items that need the same units keep them in one file (`Experiment.kept_with`).
"""
