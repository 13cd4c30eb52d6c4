"""
Pictures of a model: every display
==================================

``vicinal.report`` has twelve displays that follow scikit-learn's pattern: ``from_estimator``
computes and draws, ``plot`` draws again. Each takes an ``ax``, so that pictures can stand side by
side.
"""

# %%
# A metric: what was learned, and does it help?
# ---------------------------------------------
#
# We learn maps of digits to two and to five dimensions.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import (
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
    sample_pairs,
)
from vicinal.report import (
    ComparisonDisplay,
    ConvergenceDisplay,
    DensityDisplay,
    FeatureImportanceDisplay,
    LocalEllipsesDisplay,
    MetricDisplay,
    NeighborhoodGraphDisplay,
    NeighborsAccuracyDisplay,
    ProjectionDisplay,
    RegularizationDisplay,
    ReliabilityDisplay,
    SpectrumDisplay,
    compare,
)

pixels, kinds = load_digits(return_X_y=True)
train, test, y_train, y_test = train_test_split(
    pixels / 16, kinds, train_size=500, test_size=500, stratify=kinds, random_state=0
)
plane = NeighborhoodComponents(2, random_state=0).fit(train, y_train)
deep = NeighborhoodComponents(5, random_state=0).fit(train, y_train)

figure, axes = plt.subplots(2, 2, figsize=(11, 9.5), layout="constrained")
ProjectionDisplay.from_estimator(plane, train, y_train, axes[0, 0], queries=test[:2], n_neighbors=5)
NeighborsAccuracyDisplay.from_estimator(
    deep, train, y_train, test, y_test, baselines=("raw", "pca"), ax=axes[0, 1]
)
ConvergenceDisplay.from_estimators({"2 components": plane, "5 components": deep}, ax=axes[1, 0])
RegularizationDisplay.from_estimator(plane, ax=axes[1, 1])
plt.show()

# %%
# Which columns of wine matter, and is the metric better than none? ``compare`` answers by
# cross-validation. The metric is part of a pipeline, so that its columns have names.

wine = load_wine(as_frame=True)
scaled = StandardScaler().set_output(transform="pandas")
metric = make_pipeline(scaled, NeighborhoodComponents(2, random_state=0))
metric.fit(wine.data, wine.target)
quick = {"methods": ["raw", "lda", "nca"], "n_repeats": 1, "random_state": 0}
comparison = compare(wine.data, wine.target, **quick)

figure, axes = plt.subplots(1, 2, figsize=(11, 5.5), layout="constrained")
MetricDisplay.from_estimator(metric, wine.data, ax=axes[0])
FeatureImportanceDisplay.from_estimator(metric, wine.data, ax=axes[1])
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ComparisonDisplay.from_comparison(comparison, ax=ax)
plt.show()

# %%
# Densities and graphs
# --------------------
#
# The directions that local components found, and which rows are outliers; local Gaussians, and the
# graph of divergences between them.

X = scaled.transform(wine.data)
density = LocalComponents(gaussian="search", regularization=0.01, random_state=0).fit(X)
graph = DivergenceNeighbors(n_graph_neighbors=5, gamma=0.1).fit(X)

figure, axes = plt.subplots(2, 2, figsize=(11, 9.5), layout="constrained")
SpectrumDisplay.from_estimator(density, ax=axes[0, 0])
DensityDisplay.from_estimator(density, X, ax=axes[0, 1])
LocalEllipsesDisplay.from_estimator(graph, X, wine.target, ax=axes[1, 0])
NeighborhoodGraphDisplay.from_estimator(graph, X, wine.target, ax=axes[1, 1])
plt.show()

# %%
# Pairs: do probabilities mean what they say?
# -------------------------------------------
#
# We learn from pairs of some digits and judge by pairs of others. Pairs with a probability of 0.9
# should match nine times in ten; this model is too cautious: such pairs match nearly always.

learn, is_match = sample_pairs(y_train, 4000, random_state=0)
coincidence = LatentCoincidence(10, random_state=0).fit_pairs(learn, is_match, train)
judge, same = sample_pairs(y_test, 4000, random_state=0)

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ReliabilityDisplay.from_estimator(coincidence, judge, same, X=test, ax=ax)
plt.show()
