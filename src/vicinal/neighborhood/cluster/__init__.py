"""Sums over pairs on the workers of a cluster, by Dask (extra ``vicinal[dask]``).

    presence.py   is there a cluster, and are we one of its workers
    running.py    graphs in, values out; errors of ours from theirs
    blocks.py     rows in blocks that depend on their number alone
    tasks.py      what a worker does with a block
    rows.py       rows that live on the workers: taken, mapped, summed, multiplied
    engine.py     both passes
    sharing.py    work that is no such sum, in parts: searches, comparisons

Whatever is added up is added up in one order: neither the number of workers nor the chunks of the
user change a bit.
"""
