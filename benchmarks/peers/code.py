"""What runs in the process of a fit: the fit itself, and what makes the model of each method."""

# `make` is what the code of a method defines. Ends with a line of JSON; maps go to files.
FIT = """
import json, os, signal, time
import numpy as np
from benchmarks.common.arrays import read_array
from benchmarks.common.memory import peak_memory
{make}
def read(name):
    return read_array("{folder}", name)
X, y = read("X"), read("y")
n_classes = len(np.unique(y))

# Compilers and lazy imports are not part of the fit.
rows = slice({warm_up_rows})
make({d}, {seed}, **{warm_up}).fit(X[rows], y[rows]).transform(X[:100])

def give_up(*_):
    print(json.dumps(dict(over=True)), flush=True)
    os._exit(0)
signal.signal(signal.SIGALRM, give_up)
signal.setitimer(signal.ITIMER_REAL, {limit})
start = time.perf_counter()
model = make({d}, {seed}, **{setting})
model.fit(X, y)
seconds = time.perf_counter() - start
signal.setitimer(signal.ITIMER_REAL, 0)
megabytes = peak_memory()

Z, X_test = model.transform(X), read("X_test")
start = time.perf_counter()
Z_test = model.transform(X_test)
transform = time.perf_counter() - start
np.save("{folder}/Z.npy", Z)
np.save("{folder}/Z_test.npy", Z_test)
updates = getattr(model, "n_iter_", None)
print(json.dumps(dict(seconds=seconds, transform=transform, megabytes=megabytes,
                      updates=None if updates is None else int(updates))))
"""

OUR_NCA = """
from vicinal import NeighborhoodComponents
def make(d, seed, **options):
    return NeighborhoodComponents(d, random_state=seed, {options}**options)
"""

COINCIDENCE = """
from vicinal import LatentCoincidence
def make(d, seed, **options):
    return LatentCoincidence(d, random_state=seed, **options)
"""

SCIKIT_LEARN = """
from sklearn.neighbors import NeighborhoodComponentsAnalysis
def make(d, seed, **options):
    return NeighborhoodComponentsAnalysis(d, random_state=seed, **options)
"""

METRIC_LEARN = """
from metric_learn import {model}
def make(d, seed, **options):
    return {model}(n_components=d, random_state=seed, {options}**options)
"""

# The loss of NCA as it was published: its authors do not normalize the points, as the library
# does where it is not told otherwise.
TORCH = """
import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import NCALoss

class LinearNca:
    def __init__(self, d, seed, epochs):
        self.d, self.seed, self.epochs = d, seed, epochs

    def fit(self, X, y):
        torch.manual_seed(self.seed)
        points, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
        self.map, self.n_iter_ = torch.nn.Linear(X.shape[1], self.d, bias=False), 0
        loss = NCALoss(distance=LpDistance(normalize_embeddings=False, p=2, power=2))
        adam = torch.optim.Adam(self.map.parameters(), lr={rate})
        for _ in range(self.epochs):
            for rows in torch.randperm(len(points)).split({batch}):
                adam.zero_grad()
                loss(self.map(points[rows]), labels[rows]).backward()
                adam.step()
                self.n_iter_ += 1
        return self

    def transform(self, X):
        with torch.no_grad():
            return self.map(torch.tensor(X, dtype=torch.float32)).numpy()

def make(d, seed, **options):
    return LinearNca(d, seed, **options)
"""

# Without a seed: with one it would use one core only.
UMAP = """
from umap import UMAP
def make(d, seed, **options):
    return UMAP(n_components=d, **options)
"""

PRINCIPAL = """
from sklearn.decomposition import PCA
def make(d, seed, **options):
    return PCA(d, random_state=seed)
"""

DISCRIMINANT = """
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
def make(d, seed, **options):
    return LinearDiscriminantAnalysis(n_components=min(d, n_classes - 1))
"""
