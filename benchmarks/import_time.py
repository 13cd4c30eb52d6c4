"""Time to import vicinal, next to scikit-learn's own neighbors, each in fresh processes.

python -m benchmarks.import_time [--save]
"""

from functools import partial
from statistics import median

from benchmarks.common.children import in_fresh_process
from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.timing import in_turns

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
    imports = {name: partial(in_fresh_process, CODE.format(statement=name)) for name in STATEMENTS}
    times = in_turns(imports, REPEATS)
    reference = median(times[STATEMENTS[0]])
    row = page.table(["statement", f"median of {REPEATS}, s", "ratio to sklearn.neighbors"])
    for statement, values in times.items():
        row(f"`{statement}`", f"{median(values):.3f}", f"{median(values) / reference:.2f}")
    if options.save:
        page.save("import_time")


if __name__ == "__main__":
    main()
