"""
Learning from a stream with partial_fit
=======================================

Rows arrive in pieces and cannot all be kept. ``partial_fit`` makes one update per batch, and keeps
a uniform sample of what it has seen, its reservoir, as neighbors for predictions. Memory stays the
same however long the stream runs.
"""

# %%
# A stream
# --------
#
# Twenty columns, five of which matter. Each class consists of two clouds, so no straight cut
# separates them. 500 rows arrive in each step.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents

STEP, N_STEPS = 500, 60
X, y = make_classification(
    n_samples=STEP * N_STEPS,
    n_features=20,
    n_informative=5,
    n_redundant=0,
    n_classes=4,
    n_clusters_per_class=2,
    flip_y=0,
    random_state=0,
)
stream = list(zip(np.split(X, N_STEPS), np.split(y, N_STEPS), strict=True))

# %%
# First predict, then learn
# -------------------------
#
# Each batch is first predicted and only then learned from, so every row serves as a test row once.
# The peers are scikit-learn's linear classifier, which can learn from a stream, too, and 15 nearest
# neighbors in all columns, among the last 2000 rows: as many as our reservoir may hold.

nca = NeighborhoodComponents(3, reservoir_size=2000, batch_size=STEP, random_state=0)
linear = SGDClassifier(loss="log_loss", random_state=0)
scaler = StandardScaler()
names = ("NeighborhoodComponents", "15 neighbors, all columns", "linear classifier")
right = {name: [] for name in names}
for step, (rows, labels) in enumerate(stream):
    if step > 0:
        last = slice(max(0, step * STEP - 2000), step * STEP)
        neighbors = KNeighborsClassifier(15).fit(scaler.transform(X[last]), y[last])
        right[names[0]].append(nca.score(rows, labels))
        right[names[1]].append(neighbors.score(scaler.transform(rows), labels))
        right[names[2]].append(linear.score(scaler.transform(rows), labels))
    scaler.partial_fit(rows)
    nca.partial_fit(rows, labels, classes=range(4))
    linear.partial_fit(scaler.transform(rows), labels, classes=range(4))

for name, shares in right.items():
    print(f"{name}: {np.mean(shares[-20:]):.1%} of the last 10,000 rows, before learning from them")

# %%
# What it gained on the way
# -------------------------
#
# The dotted line is the accuracy, on the last 10,000 rows, of a model that saw the first 20,000 all
# at once.

all_at_once = NeighborhoodComponents(3, max_iter=300, random_state=0)
all_at_once.fit(X[:20_000], y[:20_000])
ceiling = all_at_once.score(X[20_000:], y[20_000:])
print(f"all at once: {ceiling:.1%}")

STYLES = {names[0]: ("#0072B2", "o"), names[1]: ("#E69F00", "s"), names[2]: ("#009E73", "^")}
figure, (left, rightmost) = plt.subplots(
    1, 2, figsize=(11, 5), layout="constrained", width_ratios=(3, 2)
)
seen = STEP * np.arange(1, N_STEPS)
for name, shares in right.items():
    color, marker = STYLES[name]
    left.plot(seen, 100 * np.array(shares), color=color, marker=marker, markersize=3, label=name)
left.axhline(100 * ceiling, color="#777777", linestyle=":", label="20,000 rows at once")
left.set(
    xlabel="rows learned from so far",
    ylabel="accuracy on the next 500 rows (%)",
    title="First predict, then learn",
)
left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)

weights = np.sqrt((nca.components_**2).sum(axis=0)) * X.std(axis=0)
rightmost.bar(range(20), weights, color="#0072B2")
rightmost.set(
    xlabel="column",
    ylabel="weight in the learned metric",
    title="The stream shows which columns matter",
)
rightmost.set_xticks(range(0, 20, 2))
plt.show()
