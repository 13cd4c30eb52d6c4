"""
Saving a model, and ONNX
========================

A saved model has to give the same answers tomorrow and on another machine, and loading it must not
run code that somebody has put into the file. `vicinal.save` writes numbers and names, no pickle.
`vicinal.export_onnx` writes just the map, for programs that have neither vicinal nor Python.
"""

# %%
# Learn
# -----
#
# Three kinds of wine, two dimensions. A third of the rows are held out.

import importlib.util
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

import vicinal

wine = load_wine()
X_train, X_test, y_train, y_test = train_test_split(
    wine.data, wine.target, test_size=1 / 3, stratify=wine.target, random_state=0
)
model = vicinal.NeighborhoodComponents(n_components=2, random_state=0).fit(X_train, y_train)
Z = model.transform(X_test)
folder = TemporaryDirectory()

# %%
# The whole model
# ---------------
#
# The map, the classifier and everything else that was learned go into one file. Loading checks the
# file's checksum before it builds a model; `vicinal.saving.describe` reads the header only.


def saved_and_loaded(path: Path) -> dict[str, np.ndarray]:
    """Differences of answers: of the map, and of the probabilities of classes."""
    vicinal.save(model, path, metadata={"features": wine.feature_names})
    again = vicinal.load(path)
    header = vicinal.saving.describe(path)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {header.model}")
    return {
        "saved and loaded: map": again.transform(X_test) - Z,
        "saved and loaded: probabilities": again.predict_proba(X_test)
        - model.predict_proba(X_test),
    }


# %%
# The map as ONNX
# ---------------
#
# A graph of two operations, once in double precision and once in single, at half the size.
# onnxruntime runs it, without vicinal.


def exported(path: Path, dtype: str) -> np.ndarray:
    """What onnxruntime makes of the test rows."""
    import onnxruntime

    vicinal.export_onnx(model, path, dtype=dtype)
    print(f"{path.name}: {path.stat().st_size / 1000:.1f} kB")
    session = onnxruntime.InferenceSession(path)
    return session.run(["Z"], {"X": X_test.astype(dtype)})[0]


# %%
# Does anything change?
# ---------------------
#
# Each part needs a package of its own and is left out where that is missing.


def is_here(what: str, packages: tuple[str, ...], remedy: str) -> bool:
    """Whether all packages are installed; says so if not."""
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
    if absent:
        print(f"{absent[0]} is not installed, so {what} is left out: pip install {remedy}")
    return not absent


place = Path(folder.name)
differences, places = {}, {"in Python": Z}
if is_here("saving", ("skops",), "'vicinal[save]'"):
    differences |= saved_and_loaded(place / "wine.skops")
if is_here("ONNX", ("onnx", "onnxruntime"), "'vicinal[onnx]' onnxruntime"):
    for dtype in ("float64", "float32"):
        places[f"ONNX, {dtype}"] = exported(place / f"wine-{dtype}.onnx", dtype)
        differences[f"ONNX, {dtype}: map"] = places[f"ONNX, {dtype}"] - Z
folder.cleanup()

largest = {name: np.abs(values).max() for name, values in differences.items()}
for name, value in largest.items():
    print(f"{name}: largest difference {value:.1e}")

# %%
# The picture
# -----------
#
# Left: where the model puts wines that it has not seen (dots), and where ONNX in single precision
# puts them (rings). Right: the largest difference in any row, on a logarithmic scale. A model that
# was saved and loaded gives the same bits. ONNX in double precision does, too, or nearly: another
# library may add in another order. Single precision rounds the seventh digit.

COLORS = np.array(["#0072B2", "#E69F00", "#009E73"])
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
left.scatter(*Z.T, s=14, c=COLORS[y_test], label="in Python")
if "ONNX, float32" in places:
    rings = places["ONNX, float32"]
    left.scatter(*rings.T, s=90, facecolor="none", edgecolor=COLORS[y_test], label="ONNX, float32")
left.set(title=f"{len(Z)} new wines", xticks=[], yticks=[])
for handle in left.legend().legend_handles:
    handle.set_edgecolor("black")

FLOOR = 1e-17  # a bar of a difference of 0 has to end somewhere
bars = right.barh(list(largest), [max(value, FLOOR) for value in largest.values()], color="#56B4E9")
words = ["the same bits" if value == 0 else f"{value:.0e}" for value in largest.values()]
right.bar_label(bars, words, padding=4)
right.set(
    xscale="log", xlim=(FLOOR, 100), xlabel=f"largest difference ({np.ptp(Z):.0f} is the span)"
)
right.set_title("What a file changes")
right.invert_yaxis()
plt.show()

# %%
# Models of densities, pairs and divergences are saved and loaded in the same way. ONNX is for
# `transform` only, of linear models and of pipelines of scalers and such a model.
