"""The suite of engines and the tests of models on a real GPU, as a table.

It is a section of the page that `benchmarks.gpu` writes.

    python -m benchmarks.gpu_check [--save]

Needs a CUDA device, the extra gpu, pytest and hypothesis; pytest-xdist where there are cores.
"""

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import torch

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page

SUITES = {
    "tests/neighborhood/test_cuda.py": "the engine: conformance, tensors, precision, memory",
    "tests/test_gpu.py": "models and the loss, beside the CPU",
    "tests/torch_loss": "the loss: gradients, laws, degenerate batches",
}


def main() -> None:
    options = arguments(__doc__).parse_args()
    page = Page("Tests", ("torch", "triton"), is_section=True)
    page.say(f"GPU: {torch.cuda.get_device_name()}.\n")
    outcomes = {path: outcome(path) for path in SUITES}
    row = page.table(["what", "tests", "passed", "failed", "skipped", "seconds"])
    for path, (counts, seconds, _) in outcomes.items():
        row(SUITES[path], path, counts["passed"], counts["failed"], counts["skipped"], seconds)
    failed = [name for *_, names in outcomes.values() for name in names]
    for name in failed:
        page.say(f"Failed: `{name}`")
    if options.save:
        page.save_as_section("gpu")
    sys.exit(bool(failed))


def outcome(path: str) -> tuple[dict[str, int], str, list[str]]:
    """How many tests passed, failed and were skipped, the time they took, and which failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", path, "-q", f"--junitxml={report}"]
        # Most of the time goes into compiling kernels: on as many cores as there are.
        if find_spec("xdist"):
            command += ["-p", "xdist.plugin", "-n", str(os.cpu_count()), "--dist", "worksteal"]
        # No plugins that happen to be there: their warnings are errors here.
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "SCIPY_ARRAY_API": "1"}
        subprocess.run([*command, "-p", "no:cacheprovider"], check=False, env=environment)
        cases = list(ElementTree.parse(report).iter("testcase"))
    counts: dict[str, int] = defaultdict(int)
    failed = []
    for case in cases:
        kinds = {child.tag for child in case}
        is_failed = bool(kinds & {"failure", "error"})
        counts["failed" if is_failed else "skipped" if "skipped" in kinds else "passed"] += 1
        failed += [f"{case.get('classname')}::{case.get('name')}"] * is_failed
    return counts, f"{sum(float(case.get('time', 0)) for case in cases):.0f}", failed


if __name__ == "__main__":
    main()
