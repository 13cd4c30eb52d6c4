"""Files of models that later versions have to read (docs/stability.md).

    PYTHONPATH=tests python -m saving.keep FOLDER

writes one of every kind, and beside it what the model answers. Once for each format of the files:
what stands in `kept/` is never written again.
"""

import sys
from pathlib import Path

import numpy as np
from saving.cases import answers, fitted

import vicinal

KINDS = {
    "nca": "nca names",
    "local": "local mixture",
    "clusters": "clusters",
    "coincidence": "coincidence local",
    "coincidence-classes": "coincidence classes",
    "divergence": "divergence graph",
    "isomap": "isomap",
    "pipeline": "pipeline",
}


def numbers_of(model) -> dict[str, np.ndarray]:
    """What a model answers, as arrays of numbers."""
    found = {}
    for name, answer in answers(model).items():
        parts = answer if isinstance(answer, tuple) else (answer,)
        for i, part in enumerate(parts):
            array = np.asarray(part.toarray() if hasattr(part, "toarray") else part)
            if array.dtype.kind in "biuf":
                found[f"{name}-{i}"] = array
    return found


def main(folder: Path) -> None:
    """Write all files."""
    folder.mkdir(parents=True)
    for kind, case in KINDS.items():
        model = fitted(case)
        vicinal.save(model, folder / f"{kind}.skops")
        np.savez_compressed(folder / f"{kind}.npz", **numbers_of(model))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
