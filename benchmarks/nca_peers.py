"""NCA on 4000 USPS digits in 5 dimensions: ours against scikit-learn's, each in a fresh process.

    python -m benchmarks.nca_peers [--rows 4000] [--save]

Needs the data set usps_roweis (set VICINAL_DATA).
"""

import argparse

from benchmarks.common.children import in_fresh_process
from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from vicinal import datasets

DATA = """
import json, time
import numpy as np
from benchmarks.common.memory import peak_memory
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from vicinal import NeighborhoodComponents, datasets
from vicinal.nca import objective
usps = datasets.load("usps_roweis", download=False)
order = np.random.default_rng({seed}).permutation(len(usps.data))
X, y = usps.data[order] / 255.0, usps.target[order]
X, X_test, y, y_test = X[:{rows}].copy(), X[{rows}:], y[:{rows}], y[{rows}:]
before = peak_memory()
start = time.perf_counter()
"""

REPORT = """
seconds = time.perf_counter() - start
memory = peak_memory() - before
value = objective(model.components_, X, y)[0]
neighbors = KNeighborsClassifier(1).fit(X @ model.components_.T, y)
accuracy = neighbors.score(X_test @ model.components_.T, y_test)
print(json.dumps(dict(seconds=seconds, memory=memory, objective=value, accuracy=accuracy,
                      n_iter=int(model.n_iter_), reached=reached(model))))
"""

THEIRS = """
model = NeighborhoodComponentsAnalysis(5, random_state=0).fit(X, y)
reached = lambda model: None
"""

OURS = """
model = NeighborhoodComponents(5, solver="lbfgs").fit(X, y)  # no penalty, as theirs
def reached(model):
    history = model.history_
    setup = seconds - history["time"][-1]
    there = history["objective"] * len(y) >= {target}
    return float(setup + history["time"][there.argmax()]) if there.any() else None
"""


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--seeds", type=int, default=3)
    return parser.parse_args()


def both_fits(seed: int, rows: int) -> tuple[dict, dict]:
    """scikit-learn's, then ours, which is told what objective the other has reached."""
    setup = DATA.format(seed=seed, rows=rows)
    theirs = in_fresh_process(setup + THEIRS + REPORT)
    ours = in_fresh_process(setup + OURS.format(target=theirs["objective"]) + REPORT)
    return theirs, ours


def cells(result: dict, reached: float | None) -> tuple[object, ...]:
    """Of a row, from the time of the fit on."""
    return (
        f"{result['seconds']:.1f}",
        "never" if reached is None else f"{reached:.1f}",
        result["n_iter"],
        f"{result['objective']:.1f}",
        f"{result['accuracy']:.1%}",
        f"{result['memory']:.0f}",
    )


def main() -> None:
    options = parse()
    if not datasets.is_available("usps_roweis"):
        raise SystemExit("usps_roweis is not here: set VICINAL_DATA to the folder that holds it")
    page = Page(f"NCA, usps_roweis, {options.rows} training rows, d = 5, the same objective")
    page.say("Objective: expected number of training points right. Memory: peak above what the")
    page.say("process held before the fit, loading the compiler included.\n")
    columns = ["seed", "model", "seconds", "to scikit-learn's objective", "updates"]
    row = page.table([*columns, "objective", "1-NN test accuracy", "memory, MB"])
    ratios = []
    for seed in range(options.seeds):
        theirs, ours = both_fits(seed, options.rows)
        row(seed, "scikit-learn", *cells(theirs, theirs["seconds"]))
        row(seed, "vicinal", *cells(ours, ours["reached"]))
        if ours["reached"]:
            speedup = theirs["seconds"] / ours["reached"]
            ratios.append((speedup, ours["memory"] / theirs["memory"]))
    page.say()
    for speedup, share in ratios:
        page.say(f"- {speedup:.1f} × faster to the same objective, {share:.2f} of the memory")
    if options.save:
        page.save("nca_peers")


if __name__ == "__main__":
    main()
