"""vicinal.torch: the loss against definitions, finite differences and NCA's own objective."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from vicinal.nca import objective
from vicinal.neighborhood import LAWS, law_named

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")

from vicinal.torch import NeighborhoodLoss  # noqa: E402

COMBINATIONS = [
    (name, kernel)
    for kernel in LAWS
    for name in ("accuracy", "log")
    if (name, kernel) != ("log", "compact")  # refused: it has no finite value
]


def a_batch(seed=0, n=24, d=3, n_classes=3, scale=0.4, dtype=torch.float64):
    """Points of several classes, near enough for kernels of compact support."""
    rng = np.random.default_rng(seed)
    y = torch.tensor(rng.permutation(np.arange(n) % n_classes))
    Z = torch.tensor(scale * rng.normal(size=(n, d)), dtype=dtype)
    return Z.requires_grad_(), y


def naive(Z, y, name="accuracy", kernel="gaussian", weights=None, keys=None, key_labels=None):
    """The loss by the n × m matrix of all pairs, which torch differentiates."""
    law, d = law_named(kernel, degrees_of_freedom=3.0), Z.shape[1]
    others, labels = (Z, y) if keys is None else (keys, key_labels)
    s = torch.square(Z[:, None] - others[None]).sum(-1)
    k = {
        "gaussian": lambda: torch.exp(-s),
        "compact": lambda: torch.clamp(1.0 - s, min=0.0) ** 2,
        "student": lambda: (1.0 + s / 3.0) ** (-(3.0 + d) / 2.0),
    }[law.name]()
    w = torch.ones(len(Z), dtype=Z.dtype) if weights is None else weights
    if keys is None:
        copies = w[None].expand(len(Z), -1) - torch.eye(len(Z), dtype=Z.dtype)
        k = k * torch.clamp(copies, min=0.0)
    own = (k * (y[:, None] == labels[None])).sum(1)
    total = k.sum(1)
    p = own / torch.where(total > 0, total, torch.ones_like(total))
    alone = own == 0
    each = 1.0 - p if name == "accuracy" else -torch.log(torch.where(alone, 1.0, p))
    return (w * each).sum() / w.sum()


def gradients(value, *inputs):
    return torch.autograd.grad(value, inputs)


# ------------------------------------------------------------------------ against definitions


@pytest.mark.parametrize(("name", "kernel"), COMBINATIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_keys", [False, True])
def test_it_is_the_definition_and_so_is_its_gradient(name, kernel, weighted, with_keys):
    (Z, y), given, inputs = a_batch(), {}, []
    if with_keys:
        keys, key_labels = a_batch(seed=1, n=17)
        given, inputs = {"keys": keys, "key_labels": key_labels}, [keys]
    weights = 1.0 + torch.arange(len(y), dtype=Z.dtype) % 3 if weighted else None
    found = NeighborhoodLoss(name, kernel)(Z, y, weights, **given)
    expected = naive(Z, y, name, kernel, weights, **given)
    assert_allclose(found.detach(), expected.detach(), rtol=1e-12)
    both = gradients(found, Z, *inputs), gradients(expected, Z, *inputs)
    for one, other in zip(*both, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "kernel"), COMBINATIONS)
@pytest.mark.parametrize("prior", ["empirical", "uniform", [0.2, 0.5, 0.3]], ids=str)
def test_gradcheck(name, kernel, prior):
    loss = NeighborhoodLoss(name, kernel, degrees_of_freedom=2.0, prior=prior)
    (Z, y), (keys, key_labels) = a_batch(n=12), a_batch(seed=1, n=9)
    weights = 0.5 + torch.arange(len(y), dtype=Z.dtype) % 3
    assert torch.autograd.gradcheck(lambda Z: loss(Z, y, weights), Z)
    both = (Z, keys)
    assert torch.autograd.gradcheck(lambda Z, K: loss(Z, y, keys=K, key_labels=key_labels), both)


@pytest.mark.parametrize("prior", ["empirical", "uniform", [0.2, 0.5, 0.3]], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "kernel"), COMBINATIONS)
def test_it_is_the_objective_of_nca(name, kernel, prior, weighted):
    """With Z = X Aᵀ: the chain rule gives the gradient in A."""
    rng = np.random.default_rng(0)
    X, y, A = rng.normal(size=(30, 4)), np.arange(30) % 3, rng.normal(size=(2, 4)) / 4
    weights = 1.0 + np.arange(30) % 3 if weighted else None
    total = 30.0 if weights is None else weights.sum()
    settings = {"objective": name, "kernel": kernel, "prior": prior}
    value, gradient = objective(A, X, y, sample_weight=weights, **settings)
    linear = torch.tensor(A, requires_grad=True)
    given = None if weights is None else torch.tensor(weights)
    found = NeighborhoodLoss(**settings)(torch.tensor(X) @ linear.T, torch.tensor(y), given)
    expected = (1.0 if name == "accuracy" else 0.0) - value / total
    assert_allclose(found.item(), expected, rtol=1e-12)
    assert_allclose(gradients(found, linear)[0], -gradient / total, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("engine", ["blocked", "fused", "tree", "adaptive"])
def test_any_engine_gives_the_same(engine):
    Z, y = a_batch()
    expected = NeighborhoodLoss("log")(Z, y)
    found = NeighborhoodLoss("log", engine=engine)(Z, y)
    assert_allclose(found.item(), expected.item(), rtol=1e-12)
    assert_allclose(gradients(found, Z)[0], gradients(expected, Z)[0], rtol=1e-9, atol=1e-12)


# --------------------------------------------------------------------------------- invariances


@given(seed=st.integers(0, 2**32 - 1), combination=st.sampled_from(COMBINATIONS))
@examples(20)
def test_order_place_and_rotation_do_not_matter(seed, combination):
    (Z, y), loss = a_batch(seed), NeighborhoodLoss(*combination)
    rng = np.random.default_rng(seed)
    order = torch.tensor(rng.permutation(len(y)))
    rotation = torch.tensor(np.linalg.qr(rng.normal(size=(3, 3)))[0])
    moved = (Z[order] @ rotation + 5.0).detach().requires_grad_()
    value, other = loss(Z, y), loss(moved, 7 - 3 * y[order])
    assert_allclose(other.item(), value.item(), rtol=1e-9)
    turned = gradients(value, Z)[0][order] @ rotation
    assert_allclose(gradients(other, moved)[0], turned, rtol=1e-6, atol=1e-10)
    assert abs(float(turned.sum())) < 1e-10  # nothing pulls a batch as a whole


@pytest.mark.parametrize("prior", ["empirical", "uniform"])
def test_a_weight_is_a_number_of_copies(prior):
    (Z, y), loss = a_batch(n=9), NeighborhoodLoss(prior=prior)
    weights = torch.tensor([1, 2, 3] * 3)
    value = loss(Z, y, weights)
    copied = loss(Z.repeat_interleave(weights, 0), y.repeat_interleave(weights))
    assert_allclose(value.item(), copied.item(), rtol=1e-12)
    assert_allclose(gradients(value, Z)[0], gradients(copied, Z)[0], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("prior", ["empirical", "uniform"])
@pytest.mark.parametrize("name", ["accuracy", "log"])
def test_rows_of_weight_zero_are_not_there(prior, name):
    (Z, y), loss = a_batch(n=12), NeighborhoodLoss(name, prior=prior)
    keep = y != 2  # the whole of a class among them
    keep[0] = False
    value, other = loss(Z, y, keep.double()), loss(Z[keep], y[keep])
    assert_allclose(value.item(), other.item(), rtol=1e-12)
    assert_allclose(gradients(value, Z)[0], gradients(other, Z)[0], rtol=1e-9, atol=1e-13)


# ------------------------------------------------------------------------- degenerate batches


@pytest.mark.parametrize(("name", "kernel"), COMBINATIONS)
def test_one_class_is_no_loss(name, kernel):
    Z, y = a_batch(n_classes=1)
    value = NeighborhoodLoss(name, kernel)(Z, y)
    assert value.item() == 0.0
    assert not gradients(value, Z)[0].any()


@pytest.mark.parametrize("prior", ["empirical", "uniform"])
def test_the_only_member_of_a_class_counts_as_documented(prior):
    Z, y = a_batch(n=10, n_classes=2)
    y[0] = 9
    for name, lonely in (("accuracy", 1.0), ("log", 0.0)):
        value = NeighborhoodLoss(name, prior=prior)(Z, torch.arange(10))
        assert value.item() == lonely
        assert not gradients(value, Z)[0].any()
        some = NeighborhoodLoss(name, prior=prior)(Z, y)
        assert torch.isfinite(some)
        assert torch.isfinite(gradients(some, Z)[0]).all()


def test_nobody_in_reach_is_a_loss_without_a_gradient():
    Z = (100.0 * torch.arange(6.0)[:, None]).requires_grad_()
    value = NeighborhoodLoss(kernel="compact")(Z, torch.arange(6) % 2)
    assert value.item() == 1.0
    assert not gradients(value, Z)[0].any()


def test_points_far_apart_or_all_alike_are_no_nan():
    torch.manual_seed(0)
    y = torch.arange(6) % 2
    for Z in (1e6 * torch.randn(6, 2), torch.zeros(6, 2)):
        Z = Z.double().requires_grad_()
        value = NeighborhoodLoss("log")(Z, y)
        assert torch.isfinite(value)
        assert torch.isfinite(gradients(value, Z)[0]).all()


def test_keys_without_a_class_of_the_queries_are_no_nan():
    Z, y = a_batch()
    for prior in ("empirical", "uniform"):
        value = NeighborhoodLoss(prior=prior)(Z, y, keys=Z.detach()[:5], key_labels=y[:5] + 9)
        assert value.item() == 1.0
        assert not gradients(value, Z)[0].any()


# -------------------------------------------------------------------------- refused, by name


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_rows_are_refused(n):
    with pytest.raises(ValueError, match=f"Z has {n} rows, but a row needs others to look at"):
        NeighborhoodLoss()(torch.zeros(n, 2), torch.zeros(n, dtype=torch.int64))


WRONG = [
    ({"Z": np.zeros((4, 2))}, TypeError, "Z is of type ndarray: give a torch.Tensor"),
    ({"Z": torch.zeros(4, 2, dtype=torch.int64)}, TypeError, "Z has dtype torch.int64"),
    ({"Z": torch.zeros(4)}, ValueError, r"Z has shape \(4,\), expected \(n, d\)"),
    ({"Z": torch.zeros(4, 0)}, ValueError, r"Z has shape \(4, 0\)"),
    ({"Z": torch.full((4, 2), torch.nan)}, ValueError, "Z has entries that are NaN or infinite"),
    ({"Z": torch.full((4, 2), torch.inf)}, ValueError, "Z has entries that are NaN or infinite"),
    ({"y": torch.zeros(4)}, TypeError, "y has dtype torch.float32: labels are integers"),
    ({"y": torch.zeros(3, dtype=torch.int64)}, ValueError, r"y has shape \(3,\), expected \(4,\)"),
    ({"y": torch.zeros((4, 1), dtype=torch.int64)}, ValueError, r"y has shape \(4, 1\)"),
    ({"y": [0, 1, 0, 1]}, TypeError, "y is of type list"),
    ({"y": torch.zeros(4, dtype=torch.int64, device="meta")}, ValueError, "y is on meta and Z on"),
    ({"sample_weight": torch.ones(3)}, ValueError, r"sample_weight has shape \(3,\)"),
    ({"sample_weight": torch.full((4,), -1.0)}, ValueError, "sample_weight must be finite numbers"),
    ({"sample_weight": torch.full((4,), torch.nan)}, ValueError, "sample_weight must be finite"),
    ({"sample_weight": torch.zeros(4)}, ValueError, "sample_weight must be .* not all 0"),
    # Losses were NaN, or 1: in single precision their sum is infinite, or 0.
    ({"sample_weight": torch.full((4,), 3e38)}, ValueError, "sample_weight sums to 1.2e.39"),
    (
        {"sample_weight": torch.full((4,), 1e-300, dtype=torch.float64)},
        ValueError,
        "sample_weight sums to 4e-300: a weight is a number of copies",
    ),
    (
        {"sample_weight": torch.ones(4, requires_grad=True)},
        ValueError,
        "sample_weight requires a gradient, and the loss gives it none: detach it",
    ),
    ({"keys": torch.zeros(3, 2)}, ValueError, "key_labels is missing"),
    ({"key_labels": torch.zeros(3)}, ValueError, "keys is missing"),
    (
        {"keys": torch.zeros(3, 5), "key_labels": torch.zeros(3, dtype=torch.int64)},
        ValueError,
        "keys has 5 columns, but Z has 2",
    ),
    (
        {"keys": torch.zeros(0, 2), "key_labels": torch.zeros(0, dtype=torch.int64)},
        ValueError,
        "Z has 4 rows and keys has 0",
    ),
    (
        {"keys": torch.zeros(3, 2), "key_labels": torch.zeros(3)},
        TypeError,
        "key_labels has dtype torch.float32",
    ),
]


@pytest.mark.parametrize(("wrong", "kind", "message"), WRONG)
def test_wrong_batches_are_refused(wrong, kind, message):
    batch = {"Z": torch.zeros(4, 2), "y": torch.arange(4) % 2} | wrong
    with pytest.raises(kind, match=message):
        NeighborhoodLoss()(**batch)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "loss"}, "objective='loss' is unknown"),
        ({"kernel": "box"}, "kernel='box' is unknown"),
        ({"engine": "warp"}, "engine='warp' is unknown"),
        ({"prior": "flat"}, "prior='flat' is unknown"),
        ({"prior": torch.ones(2, requires_grad=True)}, "prior requires a gradient"),
        ({"prior": [0.5, 0.6]}, r"prior=\[0.5, 0.6\] must be 2 positive numbers that sum to 1"),
        ({"kernel": "student", "degrees_of_freedom": -1.0}, "degrees_of_freedom=-1.0"),
        ({"objective": "log", "kernel": "compact"}, "has no finite value"),
    ],
)
def test_wrong_parameters_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        NeighborhoodLoss(**settings)


def test_labels_beyond_a_given_prior_are_refused():
    Z, y = a_batch()
    with pytest.raises(ValueError, match="y has labels that are not from 0 to 1"):
        NeighborhoodLoss(prior=[0.5, 0.5])(Z, y)


def test_gradients_of_gradients_are_refused():
    Z, y = a_batch()
    value = NeighborhoodLoss()(Z, y)
    with pytest.raises(RuntimeError, match="no gradients of gradients: leave out create_graph"):
        torch.autograd.grad(value, Z, create_graph=True)


def test_compiled_code_leaves_the_loss_as_it_is():
    """Traced, it took minutes, and ended in an error where kernels are compiled by numba."""
    Z, y = a_batch()
    loss, graphs = NeighborhoodLoss(engine="fused"), []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    @torch.compile(backend=backend)
    def compiled(points, labels):
        return loss(2.0 * points, labels)

    found, expected = compiled(Z, y), loss(2.0 * Z, y)
    assert len(graphs) == 1  # of what comes before it
    assert found.item() == expected.item()
    assert torch.equal(gradients(found, Z)[0], gradients(expected, Z)[0])


def test_points_that_changed_before_backward_are_an_error():
    Z, y = a_batch()
    points = Z * 1.0
    value = NeighborhoodLoss()(points, y)
    points += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.backward()


# -------------------------------------------------------------------------- inside of networks


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_gradients_come_in_the_precision_of_the_points(dtype):
    exact, y = a_batch()
    Z = exact.detach().to(dtype).requires_grad_()
    value = NeighborhoodLoss()(Z, y)
    expected = naive(Z.double(), y)
    assert value.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert_allclose(value.item(), expected.item(), rtol=1e-6)
    value.backward()
    assert Z.grad.dtype == dtype
    error = {torch.float16: 1e-3, torch.bfloat16: 1e-2, torch.float32: 1e-5}.get(dtype, 1e-9)
    assert_allclose(Z.grad.double(), gradients(expected, Z)[0].double(), rtol=error, atol=error)


@pytest.mark.parametrize("integers", [torch.uint8, torch.int32, torch.bool])
def test_labels_may_be_any_integers(integers):
    Z, y = a_batch(n_classes=2)
    for prior in ("empirical", "uniform"):
        loss = NeighborhoodLoss(prior=prior)
        assert_allclose(loss(Z, y.to(integers)).item(), loss(Z, y).item(), rtol=1e-12)


def test_under_autocast():
    torch.manual_seed(0)
    layer, X, y = torch.nn.Linear(3, 2), torch.randn(20, 3), torch.arange(20) % 2
    with torch.autocast("cpu", dtype=torch.bfloat16):
        Z = layer(X)
        value = NeighborhoodLoss()(Z, y)
    assert (Z.dtype, value.dtype) == (torch.bfloat16, torch.float32)
    value.backward()
    assert torch.isfinite(layer.weight.grad).all()


def test_steps_of_a_network_lower_the_loss():
    torch.manual_seed(0)
    X, y = torch.randn(200, 6), torch.arange(200) % 4
    X[:, 0] += 2.0 * y
    network = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    loss, optimizer = NeighborhoodLoss(), torch.optim.Adam(network.parameters(), lr=0.02)
    values = []
    for _ in range(60):
        optimizer.zero_grad()
        value = loss(network(X), y)
        value.backward()
        optimizer.step()
        values.append(value.item())
    assert values[-1] < 0.6 * values[0]
    assert value.item() < 0.45


def test_a_memory_bank_without_gradients_needs_no_columns_pass(monkeypatch):
    from vicinal.neighborhood.blocked import BlockedEngine

    (Z, y), (keys, key_labels) = a_batch(), a_batch(seed=1)
    expected = gradients(NeighborhoodLoss()(Z, y, keys=keys, key_labels=key_labels), Z)[0]
    monkeypatch.setattr(BlockedEngine, "columns", None)
    found = NeighborhoodLoss()(Z, y, keys=keys.detach(), key_labels=key_labels)
    assert_allclose(gradients(found, Z)[0], expected)


def test_without_gradients_no_moments_are_summed(monkeypatch):
    from vicinal.neighborhood.blocked import BlockedEngine

    asked, rows = [], BlockedEngine.rows
    monkeypatch.setattr(
        BlockedEngine,
        "rows",
        lambda *a, moments: asked.append(moments) or rows(*a, moments=moments),
    )
    Z, y = a_batch()
    with torch.no_grad():
        assert not NeighborhoodLoss()(Z, y).requires_grad
    assert not NeighborhoodLoss()(Z.detach(), y).requires_grad
    assert NeighborhoodLoss()(Z, y).requires_grad
    assert asked == [False, False, True]


def test_threads_of_torch_are_left_as_they_were():
    Z, y = a_batch()
    before = torch.get_num_threads()
    NeighborhoodLoss()(Z, y).backward()
    assert torch.get_num_threads() == before


def test_it_is_copied_saved_and_shown_as_modules_are():
    loss, (Z, y) = NeighborhoodLoss("log", "student", 2.0, "uniform"), a_batch()
    shown = "NeighborhoodLoss(objective='log', kernel='student', degrees_of_freedom=2.0"
    assert repr(loss).startswith(shown)
    assert not loss.state_dict()
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert other(Z, y).item() == loss(Z, y).item()


MEMORY = """
import resource, torch
from vicinal.torch import NeighborhoodLoss
n = 20_000
torch.manual_seed(0)
Z, y = torch.randn(n, 8).requires_grad_(), torch.arange(n) % 10
loss = NeighborhoodLoss(engine="fused")
loss(Z[:1000], y[:1000]).backward()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
loss(Z, y).backward()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def test_memory_grows_with_rows_and_not_with_pairs():
    """20 000 rows: all pairs in float64 would be 3 GB; peaks are those of a process of its own."""
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 200.0  # MB
