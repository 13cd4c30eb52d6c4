"""Peak memory of the rows and columns passes as n grows, each n in a fresh process.

python -m benchmarks.memory [--quick] [--save]
"""

from benchmarks.common.children import in_fresh_process
from benchmarks.common.command import arguments
from benchmarks.common.pages import Page

PASSES = """
import json
import numpy as np
from benchmarks.common.memory import peak_memory
from vicinal.neighborhood import GAUSSIAN, Pairs
from vicinal.neighborhood.{engine} import {name}Engine
rng = np.random.default_rng(0)
engine = {name}Engine()
warm = Pairs.among(rng.normal(size=(1500, 5)), rng.integers(0, 10, 1500))
rows = engine.rows(warm, GAUSSIAN).finish()  # loads the compiler: measured apart
engine.columns(warm, GAUSSIAN, rows.log_slope, np.ones_like(rows.log_slope))
pairs = Pairs.among(rng.normal(size=({n}, 5)), rng.integers(0, 10, {n}))
before = peak_memory()
rows = engine.rows(pairs, GAUSSIAN).finish()
engine.columns(pairs, GAUSSIAN, rows.log_slope, np.ones_like(rows.log_slope))
print(json.dumps({{"above": peak_memory() - before, "arrays": pairs.keys.nbytes / 2**20}}))
"""


def main():
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="small n, to see that it runs")
    options = parser.parse_args()
    page = Page("Memory of the two passes, d = 5, 10 classes, float64")
    sizes = (2000, 4000) if options.quick else (12_500, 25_000, 50_000, 100_000)
    row = page.table(["engine", "n", "the points, MB", "peak above them, MB", "n × n would be, MB"])
    for engine, name in (("fused", "Fused"), ("blocked", "Blocked")):
        for n in sizes:
            result = in_fresh_process(PASSES.format(engine=engine, name=name, n=n))
            square = n * n * 8 / 2**20
            row(engine, n, f"{result['arrays']:.1f}", f"{result['above']:.1f}", f"{square:.0f}")
    if options.save:
        page.save("memory")


if __name__ == "__main__":
    main()
