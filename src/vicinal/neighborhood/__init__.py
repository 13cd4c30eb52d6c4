"""Soft neighborhoods: the one computation under every model.

Every model weighs pairs of points by how near they are under a linear map A
and needs sums over those pairs::

    z_i  = A x_i                        projected points, rows of Z (`Pairs.n_near`: further
                                        coordinates may be carried along for the sums)
    s_ij = |z_i - z_j|²                 squared distance
    k(s), -k'(s)                        a law: Gaussian, compact support, Student's t (laws.py)
    Σ_ij C_ij (z_i - z_j)(x_i - x_j)ᵀ   a weighted scatter of differences

The keys of a query fall into parts: those of another class and those of its
own (one part without labels). Within a part the shares

    g_ij = u_j (-k'(s_ij)) / Σ_l u_l (-k'(s_il))

sum to one over the keys, and every model's coefficients are C_ij = c_pi g_ij
with one number c_pi per query and part. Two passes give all that is needed::

    Pairs ──► Engine.rows ──► RowSums ──finish──► Rows: log masses, centroids
                                                    │
                  model: objective, coefficients c_pi
                                                    │
    Pairs ──► Engine.columns ─────────► ColumnSums: Σ_i C_ij, Σ_i C_ij z_i
                                                    │
                                scatter ◄───────────┘   the gradient, (d, D)

| engine   | what it is                                  | file          |
|----------|---------------------------------------------|---------------|
| oracle   | the definition over n × m arrays, tests     | `oracle.py`   |
| blocked  | matrix products over tiles                  | `blocked.py`  |
| fused    | compiled sweeps, low dimension              | `fused.py`    |
| tree     | k-d trees with a bound on the error         | `tree.py`     |
| radius   | range search for laws with support          | `radius.py`   |
| adaptive | tree where a probe finds few pairs to look  | `adaptive.py` |
|          | at, else fused                              |               |
| cuda     | fused kernels on a GPU (extra gpu)          | `cuda/`       |
| dask     | blocks by the workers of a cluster, each    | `cluster/`    |
|          | with one of the above (extra dask)          |               |

Every query's sum over a part errs by at most `tolerance` of itself in `tree`, and so does the share
of a part in all (docs/equations/trees.md). Promises of all, with a tolerance of 0:

* **Memory** O((n + m) d) beside one tile per thread; never n × m.
* **Error** of every exponent: at most (16 + d) ulp of the largest squared norm
  after centering, times the law's steepness, which is what |q|² + |k|² - 2 q·k costs
  in `blocked`; where that would exceed 1e-6 it takes differences of coordinates, as
  `fused` always does, and errs by ulps of the distance itself.
  `cuda` in single precision takes products of two halves for each number, and doubles where
  these would err by 1e-3.
* **Said by the engine** (`Engine.can`): the laws, precisions, devices and dimensions it takes, and
  the 16 above. What it cannot do it refuses.
* **No underflow**: each part of each row keeps its own largest exponent.
* **Determinism**: tiles and the order of merging do not depend on the number
  of threads; neither does a single bit of the result.
* **Self** is left out by position, never by zero distance.
* **Arrays stay where they are**: NumPy's in, NumPy's out; tensors in, tensors on their device out.
  Engines that compute with NumPy take those in the host's memory (`hosted.py`).
"""

from vicinal.neighborhood.abilities import Abilities, Workload
from vicinal.neighborhood.arrays import namespace
from vicinal.neighborhood.classes import class_log_masses
from vicinal.neighborhood.engine import (
    ENGINES,
    Engine,
    choose_engine,
    engine_of_a_fit,
    has_place,
    placed,
    repeated,
    spreads_rows,
)
from vicinal.neighborhood.laws import (
    COMPACT,
    GAUSSIAN,
    GAUSSIAN_MIXTURES,
    LAWS,
    Law,
    Student,
    law_named,
)
from vicinal.neighborhood.pairs import DIFFERENT, SAME, Pairs
from vicinal.neighborhood.products import gram, times
from vicinal.neighborhood.scatter import (
    diagonal_scatter,
    key_pulls,
    query_pulls,
    scatter,
    symmetric_scatter,
)
from vicinal.neighborhood.sums import ColumnSums, Rows, RowSums, log_shares, log_sum

__all__ = [
    "COMPACT",
    "DIFFERENT",
    "ENGINES",
    "GAUSSIAN",
    "GAUSSIAN_MIXTURES",
    "LAWS",
    "SAME",
    "Abilities",
    "ColumnSums",
    "Engine",
    "Law",
    "Pairs",
    "RowSums",
    "Rows",
    "Student",
    "Workload",
    "choose_engine",
    "class_log_masses",
    "diagonal_scatter",
    "engine_of_a_fit",
    "gram",
    "has_place",
    "key_pulls",
    "law_named",
    "log_shares",
    "log_sum",
    "namespace",
    "placed",
    "query_pulls",
    "repeated",
    "scatter",
    "spreads_rows",
    "symmetric_scatter",
    "times",
]
