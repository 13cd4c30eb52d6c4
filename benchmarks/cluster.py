"""What a cluster brings and what it costs: speed-up, overhead and bytes of a step of NCA.

python -m benchmarks.cluster [--rows 400000] [--repeats 5] [--save]

Workers are processes of one thread on this machine, so that nothing but the engine is compared.
Where others use the machine, wall-clock times say little: beside them stand seconds of cores, of
this process (with the scheduler) and then the busiest worker, as if they never worked at once.
Bytes are those that all processes hand to their sockets. From these figures follows a reckoning
for 10^9 rows on 100 workers.
"""

import os
import time

import numpy as np

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page

# Rows that are all compared with each other; columns, components, rows of a batch.
FULL_ROWS, COLUMNS, COMPONENTS, BATCH = 60_000, 20, 5, 4000

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
    """A step over all rows of the first ones, and one of a batch against all rows."""
    from vicinal.neighborhood.threads import computing

    few, start = problem(X[:FULL_ROWS], y[:FULL_ROWS], engine)
    many, _ = problem(X, y, engine)
    exact, everything = few.exact(), many.everything
    rng = np.random.default_rng(0)

    def full():
        with computing(1):
            exact(start)

    def stochastic():
        own = np.sort(rng.choice(len(X), BATCH, replace=False))
        with computing(1):
            many._of_rows(everything, start, own)

    return {"full": full, "stochastic": stochastic}


def gathering(X, y):
    """Rows of a random batch, from everywhere."""
    from vicinal.neighborhood.arrays import picked
    from vicinal.neighborhood.cluster.rows import spread

    rows, rng = spread(X), np.random.default_rng(0)
    return lambda: picked(rows, rng.choice(len(X), 2000, replace=False))


def best(work, repeats):
    times = []
    for _ in range(repeats + 1):
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


def bytes_of(client, work, repeats):
    """Handed to all sockets for a step, less what passes in the same time without one."""
    start_counting()
    client.run(start_counting)
    work()

    def passing(do):
        before = counted() + sum(client.run(counted).values())
        began = time.perf_counter()
        do()
        seconds = time.perf_counter() - began
        return counted() + sum(client.run(counted).values()) - before, seconds

    moved, seconds = passing(lambda: [work() for _ in range(repeats)])
    idle, _ = passing(lambda: time.sleep(seconds))
    return (moved - idle) / repeats


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

    from vicinal.neighborhood.cluster.blocks import slices_of

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
        tiny = problem(X, y, "dask")[0]
        few = lambda: tiny._of_rows(tiny.everything, np.eye(COMPONENTS, COLUMNS), np.arange(2))  # noqa: E731
        found["overhead"], found["blocks"] = best(few, repeats), len(slices_of(len(X)))
    return found


def bytes_without_stealing(X, y):
    """Of a stochastic step, where no idle worker takes blocks from another one."""
    import dask
    import distributed

    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(n_workers=2, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2)
        work = steps(X, y, "dask")["stochastic"]
        work()
        return bytes_of(client, work, 2)


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
            "MB moved",
        ]
    )
    for name, pairs in (("full", FULL_ROWS**2), ("stochastic", BATCH * n)):
        one, two = found[1][name], found[2][name]
        moved = f"{found[2]['bytes'][name] / 1e6:.2f}"
        gain = f"{found[1]['cores'][name] / found[2]['cores'][name]:.2f}"
        cells = f"{here[name]:.3f}", f"{one:.3f}", f"{two:.3f}", f"{one / two:.2f}", gain, moved
        row(f"{name}", f"{pairs:.0e}", *cells)
    page.say()
    page.say(
        f"A step of a batch of 2 rows, which is all overhead, takes {found[2]['overhead']:.3f} s "
        f"with {found[2]['blocks']} blocks of keys; to gather a random batch of 2000 rows takes "
        f"{found[2]['gathering']:.3f} s and {found[2]['bytes']['gathering'] / 1e6:.2f} MB. "
        f"Without work stealing (`distributed.scheduler.work-stealing: False`) a stochastic step "
        f"moves {found['still'] / 1e6:.2f} MB; its batch is {BATCH * COMPONENTS * 8 / 1e6:.2f} MB "
        f"and the sums of one block for it {BATCH * 2 * (3 + COMPONENTS) * 8 / 1e6:.2f} MB.\n"
    )


def reckon(page, here, found, n):
    """For many rows on many workers, from what was measured."""
    per_pair = here["stochastic"] / (BATCH * n)
    per_block = found[2]["overhead"] / found[2]["blocks"]
    blocks = ROWS / 250_000
    sums = BATCH * 2 * (3 + COMPONENTS) * 8
    moved = WORKERS * 4 * BATCH * (COMPONENTS + 2) * 8 + blocks * sums / 4
    seconds = {
        "pairs": ROWS * BATCH * per_pair / WORKERS,
        "tasks": blocks * per_block,
        "network": moved / BANDWIDTH,
        "gathering of a random batch": blocks * found[2]["gathering"] / found[2]["blocks"],
    }
    page.say(f"## {ROWS:.0e} rows on {WORKERS} workers, reckoned\n")
    page.say(
        f"{COLUMNS} columns to {COMPONENTS}, one thread a worker as fast as here, {blocks:.0f} "
        f"blocks, one scheduler as fast as here, {BANDWIDTH / 1e9:.0f} GB/s into one machine. "
        f"Measured: {per_pair * 1e9:.2f} ns a pair (both passes), {per_block * 1e3:.2f} ms a block "
        f"and step of overhead.\n"
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
    found["still"] = bytes_without_stealing(X, y)
    report(page, here, found, options.rows)
    reckon(page, here, found, options.rows)
    if options.save:
        page.save("cluster")


if __name__ == "__main__":
    main()
