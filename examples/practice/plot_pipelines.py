"""
Pipelines and grid search
=========================

vicinal's estimators are pipeline steps like any other. Here a learned map goes in front of
scikit-learn's nearest neighbors, and a grid search chooses the dimension and the number of
neighbors together.
"""

# %%
# Hold rows back first
# --------------------
#
# Half of the rows take no part in anything until the last cell. The 13 columns of wine have units
# that differ by a factor of a thousand.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

# %%
# Search
# ------
#
# The learned map needs no scaler: units do not matter to it. The two other pipelines are what
# people usually do, with the same folds and the same numbers of neighbors to choose from.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
ks, dimensions = [1, 3, 5, 9, 15], [1, 2, 3, 5, 13]
learned = Pipeline([("map", NeighborhoodComponents()), ("vote", KNeighborsClassifier())])
scaled = Pipeline([("scale", StandardScaler()), ("vote", KNeighborsClassifier())])
raw = Pipeline([("vote", KNeighborsClassifier())])
searches = {
    "raw columns": GridSearchCV(raw, {"vote__n_neighbors": ks}, cv=folds),
    "standardized": GridSearchCV(scaled, {"vote__n_neighbors": ks}, cv=folds),
    "learned map": GridSearchCV(
        learned, {"map__n_components": dimensions, "vote__n_neighbors": ks}, cv=folds
    ),
}
for name, search in searches.items():
    search.fit(X_train, y_train)
    print(f"{name}: {search.best_params_}, {search.best_score_:.1%} on folds")

# %%
# Look at the test rows once
# --------------------------

tests = {name: search.score(X_test, y_test) for name, search in searches.items()}
for name, share in tests.items():
    print(f"{name}: {share:.1%} of {len(X_test)} test rows")

table = searches["learned map"].cv_results_["mean_test_score"].reshape(len(dimensions), len(ks))
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
image = left.imshow(100 * table, cmap="cividis")
for i, j in np.ndindex(table.shape):
    dark = image.norm(100 * table[i, j]) < 0.5
    color = "white" if dark else "black"
    left.text(j, i, f"{100 * table[i, j]:.1f}", ha="center", va="center", color=color)
best = searches["learned map"].best_params_
place = ks.index(best["vote__n_neighbors"]), dimensions.index(best["map__n_components"])
left.scatter(*place, s=1500, marker="s", facecolor="none", edgecolor="#D55E00", linewidth=3)
left.set(
    title="Accuracy on folds (%); the frame marks the choice",
    xlabel="neighbors",
    ylabel="dimensions",
    xticks=range(len(ks)),
    xticklabels=ks,
    yticks=range(len(dimensions)),
    yticklabels=dimensions,
)
bars = right.barh(
    list(tests), [100 * share for share in tests.values()], color=["#999999", "#56B4E9", "#0072B2"]
)
right.bar_label(bars, fmt="%.1f", padding=3)
right.set(title="Accuracy on test rows (%)", xlim=(0, 115), xticks=range(0, 101, 20))
right.invert_yaxis()
plt.show()
