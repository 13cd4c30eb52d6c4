"""What a cluster brings and what it costs: speed-up, overhead and bytes of a step of NCA.

python -m benchmarks.cluster [--rows 400000] [--repeats 5] [--save]

Workers are processes of one thread on this machine, so that nothing but the engine is compared.
Where others use the machine, wall-clock times say little: beside them stand seconds of cores, of
this process (with the scheduler) and then the busiest worker, as if they never worked at once.
Bytes are counted twice: values that workers send to each other and to the scheduler, as they count
them themselves, and all that any process hands to its sockets, graphs and heartbeats included.
From these figures follows a reckoning for 10^9 rows on 100 workers.
"""

import os
import time
from functools import partial

import numpy as np

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page

# Rows that are all compared with each other; columns, components.
FULL_ROWS, COLUMNS, COMPONENTS = 60_000, 20, 5

# Sizes of batches; the first is all overhead.
BATCHES = NOTHING, SMALL, BATCH = 2, 500, 4000

# Of the reckoning.
ROWS, WORKERS, BANDWIDTH, UPDATES = 1e9, 100, 1e9, 1000


def data(n):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n)
    X = rng.normal(size=(n, COLUMNS))
    X[:, :3] += 3.0 * rng.normal(size=(10, 3))[y]
    return X, y


def problem(X, y, engine, evaluations=1000):
    """The objective of a fit, and the map it starts from."""
    from vicinal.inputs.features import class_units
    from vicinal.nca.criteria import CRITERIA
    from vicinal.nca.equations import Objective
    from vicinal.nca.learning import Coordinates, NeighborhoodProblem
    from vicinal.nca.training_set import TrainingSet
    from vicinal.neighborhood import GAUSSIAN, Workload, choose_engine

    rows = TrainingSet(class_units(X, y, 10), y)
    objective = Objective(GAUSSIAN, CRITERIA["accuracy"], "empirical", 10)
    work = Workload(BATCH, len(X), COMPONENTS, evaluations)
    chosen = choose_engine(engine, work, n_jobs=1)[0]
    start = np.eye(COMPONENTS, COLUMNS)
    coordinates = Coordinates(np.eye(COLUMNS), start.shape)
    return NeighborhoodProblem(rows, objective, chosen, coordinates, 0.0), start


def steps(X, y, engine):
    """A step over all rows of the first ones, and some of a batch against all rows."""
    from vicinal.neighborhood.threads import computing

    few, start = problem(X[:FULL_ROWS], y[:FULL_ROWS], engine)
    exact = few.exact()

    def full():
        with computing(1):
            exact(start)

    return {"full": full, **stochastic_steps(X, y, engine)}


def stochastic_steps(X, y, engine):
    """A batch against all rows, by the size of the batch."""
    from vicinal.neighborhood.threads import computing

    many, start = problem(X, y, engine)
    everything, rng = many.everything, np.random.default_rng(0)

    def step(size):
        own = np.sort(rng.choice(len(X), size, replace=False))
        with computing(1):
            many._of_rows(everything, start, own)

    return {size: partial(step, size) for size in BATCHES}


def gathering(X, y):
    """Rows of a random batch, from everywhere."""
    from vicinal.neighborhood.arrays import picked
    from vicinal.neighborhood.cluster.rows import spread

    rows, rng = spread(X), np.random.default_rng(0)
    return lambda: picked(rows, rng.choice(len(X), 2000, replace=False))


def best(work, repeats):
    """The fastest of so many; of what is quick, of all in three seconds."""
    times, first = [], time.perf_counter()
    while len(times) <= repeats or time.perf_counter() - first < 3:
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times[1:])  # the first one compiles


def start_counting():
    """Let every process count what it hands to its sockets."""
    from distributed.comm.tcp import TCP

    if hasattr(TCP, "counted"):
        return
    TCP.counted, write = 0, TCP.write

    async def counting(self, *args, **kwargs):
        sent = await write(self, *args, **kwargs)
        TCP.counted += sent or 0
        return sent

    TCP.write = counting


def counted():
    from distributed.comm.tcp import TCP

    return TCP.counted


def sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def bytes_of(client, work, repeats):
    """Of a step: sent by workers as they count it, and handed to all sockets.

    From the sockets' we take what passes in the same time without a step.
    """
    start_counting()
    client.run(start_counting)
    work()

    def passing(do):
        before = sockets(), values()
        began = time.perf_counter()
        do()
        seconds = time.perf_counter() - began
        return values() - before[1], sockets() - before[0], seconds

    def sockets():
        return counted() + sum(client.run(counted).values())

    def values():
        return sum(client.run(sent).values())

    by_workers, moved, seconds = passing(lambda: [work() for _ in range(repeats)])
    _, idle, _ = passing(lambda: time.sleep(seconds))
    return by_workers / repeats, (moved - idle) / repeats


def cores_of(client, work, repeats):
    """Seconds of a step by cores that nobody else uses: ours, and of the busiest worker."""
    import psutil

    processes = [psutil.Process(pid) for pid in client.run(os.getpid).values()]

    def used():
        times = [process.cpu_times() for process in (psutil.Process(), *processes)]
        return np.array([each.user + each.system for each in times])

    before = used()
    for _ in range(repeats):
        work()
    here, *there = (used() - before) / repeats
    return here + max(there)


def on_workers(n_workers, X, y, repeats):
    """Seconds and bytes of each kind of step."""
    import distributed

    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=n_workers, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers)
        work = {**steps(X, y, "dask"), "gathering": gathering(X, y)}
        found = {name: best(step, repeats) for name, step in work.items()}
        found["cores"] = {name: cores_of(client, step, 2) for name, step in work.items()}
        found["bytes"] = {name: bytes_of(client, step, 2) for name, step in work.items()}
        few = stochastic_steps(X[: len(X) // 4], y[: len(X) // 4], "dask")
        found["bytes of few"] = {name: bytes_of(client, step, 2) for name, step in few.items()}
    return found


def report(page, here, found, n):
    row = page.table(
        [
            "step",
            "pairs",
            "one machine, s",
            "1 worker, s",
            "2 workers, s",
            "speed-up",
            "speed-up in seconds of cores",
        ]
    )
    for name, step, pairs in (("full", "full", FULL_ROWS**2), ("stochastic", BATCH, BATCH * n)):
        one, two = found[1][step], found[2][step]
        gain = f"{found[1]['cores'][step] / found[2]['cores'][step]:.2f}"
        cells = f"{here[step]:.3f}", f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}", gain
        row(name, f"{pairs:.0e}", *cells)
    page.say()
    extra, blocks = overhead(here, found), n_blocks(n)
    page.say(
        f"A step of a batch of {NOTHING} rows takes {here[NOTHING]:.3f} s without a cluster, "
        f"{found[1][NOTHING]:.3f} s with one worker and {found[2][NOTHING]:.3f} s with two: "
        f"{extra:.3f} s more than half of it, {1e3 * extra / blocks:.1f} ms for each of {blocks} "
        f"blocks, are the price of a step. To gather a random batch of 2000 rows takes "
        f"{found[2]['gathering']:.3f} s.\n"
    )


def report_bytes(page, found, n):
    page.say("## What a step moves between two workers and this process\n")
    row = page.table(["step", "keys", "MB sent by workers", "MB through all sockets"])
    kinds = [
        ("full", "full", FULL_ROWS, "bytes"),
        ("random batch of 2000", "gathering", n, "bytes"),
    ]
    for size in (SMALL, BATCH):
        for keys, which in ((n // 4, "bytes of few"), (n, "bytes")):
            kinds.append((f"stochastic batch of {size}", size, keys, which))
    for name, step, keys, which in kinds:
        row(name, str(keys), *(f"{each / 1e6:.2f}" for each in found[2][which][step]))
    numbers = COLUMNS + COMPONENTS + 6 + 4 * (3 + COMPONENTS)
    page.say(
        f"\nOf every row of a stochastic batch {numbers} numbers should travel between two workers "
        f"and here: its columns; coordinates, class and place; slopes and coefficients; its sums "
        f"twice. Of {BATCH} rows that is {numbers * BATCH * 8 / 1e6:.2f} MB.\n"
    )


def n_blocks(n):
    from vicinal.neighborhood.cluster.blocks import slices_of

    return len(slices_of(n))


def overhead(here, found):
    """Of a step with two workers: what it takes beside the work, of which each does half."""
    return max(0.0, found[2][NOTHING] - here[NOTHING] / 2)


def reckon(page, here, found, n):
    """For many rows on many workers, from what was measured."""
    per_pair = here[BATCH] / (BATCH * n)
    # Of two workers: three tasks each, two sums, queries and terms; one after the other.
    per_task = overhead(here, found) / (3 * 2 + 4)
    blocks, sums = ROWS / 250_000, BATCH * 2 * (3 + COMPONENTS) * 8
    tasks = 3 * WORKERS + 4 + 2 * WORKERS / 8
    # Two or three nodes of the tree of sums from every worker; queries and terms to it.
    moved = WORKERS * (3 * sums + BATCH * (COMPONENTS + 6) * 8)
    seconds = {
        "pairs": ROWS * BATCH * per_pair / WORKERS,
        "tasks": tasks * per_task,
        "network": moved / BANDWIDTH,
        "gathering of a random batch": WORKERS * found[2]["gathering"] / 2,
    }
    page.say(f"## {ROWS:.0e} rows on {WORKERS} workers, reckoned\n")
    page.say(
        f"{COLUMNS} columns to {COMPONENTS}, one thread a worker as fast as here, {blocks:.0f} "
        f"blocks, one scheduler as fast as here, {BANDWIDTH / 1e9:.0f} GB/s into one machine. "
        f"Measured: {per_pair * 1e9:.2f} ns a pair (both passes), {per_task * 1e3:.1f} ms of "
        f"overhead a task, as if one came after the other; {tasks:.0f} tasks a step.\n"
    )
    row = page.table(["part of a step", "seconds"])
    for name, each in seconds.items():
        row(name, f"{each:.2f}")
    step = seconds["pairs"] + seconds["tasks"] + seconds["network"]
    hours = UPDATES * step / 3600, UPDATES * seconds["gathering of a random batch"] / 3600
    page.say(
        f"\n{UPDATES} updates: {hours[0]:.1f} h of stochastic batches of {BATCH} rows (each "
        f"against all rows), {hours[1]:.1f} h of random batches of 2000 rows (against each other)."
    )


def main():
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=400_000, help="of keys of a stochastic step")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    page = Page("A cluster of Dask", ("dask", "distributed"))
    X, y = data(options.rows)
    page.say(
        f"{options.rows} rows of {COLUMNS} columns to {COMPONENTS}; full: {FULL_ROWS} of them, "
        f"each against all others; stochastic: {BATCH} against all. Fastest of {options.repeats}. "
        f"Load of the machine before it began: {os.getloadavg()[0]:.1f}.\n"
    )
    here = {name: best(step, options.repeats) for name, step in steps(X, y, "fused").items()}
    found = {k: on_workers(k, X, y, options.repeats) for k in (1, 2)}
    report(page, here, found, options.rows)
    report_bytes(page, found, options.rows)
    reckon(page, here, found, options.rows)
    if options.save:
        page.save("cluster")


if __name__ == "__main__":
    main()
