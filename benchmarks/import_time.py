"""Time to import vicinal, next to scikit-learn's own neighbors, each in fresh processes.

python benchmarks/import_time.py [--save]
"""

from statistics import median

from common import Page, arguments, in_fresh_process

STATEMENTS = (
    "import sklearn.neighbors",
    "import vicinal",
    "from vicinal import NeighborhoodComponents",
)
REPEATS = 15
CODE = """
import json, time
start = time.perf_counter()
{statement}
print(json.dumps(time.perf_counter() - start))
"""


def main():
    options = arguments(__doc__).parse_args()
    page = Page("Import time")
    times = {statement: [] for statement in STATEMENTS}
    for _ in range(REPEATS):  # interleaved, so that a slow moment hits all alike
        for statement in STATEMENTS:
            times[statement].append(in_fresh_process(CODE.format(statement=statement)))
    reference = median(times[STATEMENTS[0]])
    row = page.table(["statement", "median of 15, s", "ratio to sklearn.neighbors"])
    for statement, values in times.items():
        row(f"`{statement}`", f"{median(values):.3f}", f"{median(values) / reference:.2f}")
    if options.save:
        page.save("import_time")


if __name__ == "__main__":
    main()
