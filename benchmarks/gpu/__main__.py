"""The engine for GPUs: speed beside a loop over tiles in torch, error beside plain float32, fits.

    python -m benchmarks.gpu [--parts passes errors models divergences] [--save]

Times by CUDA events, medians; kernels were compiled before. Needs a CUDA device and the extra gpu;
fits of mnist need its data (set VICINAL_DATA).
"""

import argparse

import torch

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.gpu.divergences import divergences
from benchmarks.gpu.errors import errors
from benchmarks.gpu.models import models
from benchmarks.gpu.passes import passes

PARTS = {"passes": passes, "errors": errors, "models": models, "divergences": divergences}


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    return parser.parse_args()


def main() -> None:
    options = parse()
    page = Page("The engine for GPUs", ("torch", "triton"))
    page.say(f"GPU: {torch.cuda.get_device_name()}.\n")
    torch.backends.cuda.matmul.allow_tf32 = False
    for name in options.parts:
        PARTS[name](page)
    if options.save:
        page.save("gpu", keep=["Tests"])  # of benchmarks.gpu_check


if __name__ == "__main__":
    main()
