"""Sums over pairs on the workers of a cluster, by Dask (extra ``vicinal[dask]``).

    presence.py   is there a cluster, and are we one of its workers
    failures.py   errors of ours from theirs
    homes.py      where blocks live, and tasks go
    merging.py    one order of additions
    running.py    graphs in, values out
    blocks.py     rows in blocks that depend on their number alone
    tasks.py      what a worker does with a block
    made.py       rows that tasks make of others, and nobody holds
    rows.py       rows that live on the workers: taken, mapped, summed, multiplied
    keys.py       both passes over keys that live on the workers
    engine.py     both passes
    sharing.py    work that is no such sum, in parts: searches, comparisons

Whatever is added up is added up in one order: neither the number of workers nor the chunks of the
user change a bit.
"""
