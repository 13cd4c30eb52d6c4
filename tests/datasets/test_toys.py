import numpy as np
import pytest

from vicinal.datasets import make_five_gaussians, make_noisy_circles, make_noisy_gaussians

MAKERS = [make_noisy_gaussians, make_noisy_circles, make_five_gaussians]
each_maker = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
CENTERS = [(0, 0), (5, 0), (-5, 0), (0, 5), (0, -5)]


@each_maker
def test_shapes_and_types(make):
    X, y = make(50, n_noise=3, random_state=0)
    assert X.shape == (50, 5)
    assert y.shape == (50,)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    X, y = make()
    assert X.shape == (1000, 2)


@each_maker
def test_the_seed_decides(make):
    X, y = make(64, n_noise=2, random_state=7)
    again, y_again = make(64, n_noise=2, random_state=7)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, y_again)
    from_state, _ = make(64, n_noise=2, random_state=np.random.RandomState(7))
    np.testing.assert_array_equal(X, from_state)
    other, _ = make(64, n_noise=2, random_state=8)
    assert not np.isin(other, X).any()


@each_maker
def test_further_noise_leaves_the_rest_as_it_is(make):
    X, y = make(40, random_state=1)
    for n_noise in (1, 4, 9):
        noisier, y_noisier = make(40, n_noise=n_noise, random_state=1)
        np.testing.assert_array_equal(noisier[:, : X.shape[1]], X)
        np.testing.assert_array_equal(y_noisier, y)
        X = noisier


@each_maker
def test_shuffling_is_only_a_permutation(make):
    X, y = make(200, shuffle=False, random_state=2)
    shuffled, y_shuffled = make(200, random_state=2)
    assert (np.diff(y) >= 0).all()
    assert (np.diff(y_shuffled) < 0).any()
    table, other = np.column_stack([X, y]), np.column_stack([shuffled, y_shuffled])
    np.testing.assert_array_equal(table[np.lexsort(table.T)], other[np.lexsort(other.T)])


@each_maker
def test_noise_is_white_and_knows_nothing_of_the_classes(make):
    X, y = make(20_000, n_noise=4, noise_std=3.0, random_state=3)
    noise = X[:, 2:]
    np.testing.assert_allclose(np.cov(noise.T), 9 * np.eye(4), atol=0.4)
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=0.1)
    cross = np.corrcoef(np.column_stack([X[:, :2], y, noise]).T)[:3, 3:]
    assert np.abs(cross).max() < 0.03
    X, _ = make(30, n_noise=2, noise_std=0.0, random_state=3)
    assert (X[:, 2:] == 0).all()


@pytest.mark.parametrize("make", MAKERS[:2])
@pytest.mark.parametrize(("n_samples", "counts"), [(2, [1, 1]), (7, [4, 3]), (100, [50, 50])])
def test_two_classes_share_equally(make, n_samples, counts):
    _, y = make(n_samples, random_state=0)
    assert np.bincount(y).tolist() == counts


@pytest.mark.parametrize(("n_samples", "middle"), [(8, 4), (15, 11), (1000, 500), (1500, 752)])
def test_the_middle_class_is_four_times_as_large(n_samples, middle):
    _, y = make_five_gaussians(n_samples, random_state=0)
    assert np.bincount(y).tolist() == [middle] + [n_samples // 8] * 4


def test_gaussians_have_the_moments_of_the_figure():
    X, y = make_noisy_gaussians(20_000, random_state=4)
    for label, center in enumerate([(-3, 0), (3, 0)]):
        np.testing.assert_allclose(X[y == label].mean(axis=0), center, atol=0.05)
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(2), atol=0.05)


def test_five_gaussians_have_the_moments_of_the_docstring():
    X, y = make_five_gaussians(40_000, random_state=5)
    for label, center in enumerate(CENTERS):
        np.testing.assert_allclose(X[y == label].mean(axis=0), center, atol=0.06)
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(2), atol=0.08)


def test_circles_have_their_radii_and_all_angles():
    X, y = make_noisy_circles(10_000, ring_std=0.0, random_state=6)
    np.testing.assert_allclose(np.hypot(*X.T), np.array([1.0, 2.0])[y])
    angles = np.arctan2(X[:, 1], X[:, 0])
    for label in (0, 1):
        octants = np.histogram(angles[y == label], bins=8, range=(-np.pi, np.pi))[0]
        assert octants.min() > 520  # 625 expected, standard deviation 23
    X, y = make_noisy_circles(10, radii=[5, 3], ring_std=0, random_state=6)
    np.testing.assert_allclose(np.hypot(*X.T), np.array([5.0, 3.0])[y])


def test_circles_are_blurred_isotropically():
    exact, _ = make_noisy_circles(20_000, ring_std=0.0, random_state=6)
    for ring_std, blurred in (
        (0.1, make_noisy_circles(20_000, random_state=6)[0]),
        (0.5, make_noisy_circles(20_000, ring_std=0.5, random_state=6)[0]),
    ):
        expected = ring_std**2 * np.eye(2)
        np.testing.assert_allclose(np.cov((blurred - exact).T), expected, atol=0.03 * ring_std**2)


@each_maker
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 1}, ValueError, "n_samples=1 is too small. Pass an int from"),
        ({"n_samples": 10.0}, TypeError, "n_samples=10.0 is not an integer"),
        ({"n_samples": True}, TypeError, "n_samples=True is not an integer"),
        ({"n_noise": -1}, ValueError, "n_noise=-1 is too small. Pass an int from 0"),
        ({"n_noise": 1.5}, TypeError, "n_noise=1.5 is not an integer"),
        ({"noise_std": -0.1}, ValueError, "noise_std=-0.1 is not a standard deviation"),
        ({"noise_std": float("nan")}, ValueError, "noise_std=nan .* Pass a finite float"),
        ({"noise_std": float("inf")}, ValueError, "noise_std=inf"),
        ({"noise_std": "1"}, TypeError, "noise_std='1' is not a number"),
        ({"random_state": "seed"}, ValueError, "seed"),
    ],
)
def test_bad_arguments_are_named(make, arguments, error, message):
    with pytest.raises(error, match=message):
        make(**arguments)


def test_five_gaussians_need_a_point_in_each_class():
    with pytest.raises(ValueError, match=r"n_samples=7 is too small. Pass an int from 8 up"):
        make_five_gaussians(7)


@pytest.mark.parametrize(
    "radii", [(1.0,), (1, 2, 3), (0.0, 1.0), (-1, 2), (1, np.inf), (1, np.nan), "12", 3, None]
)
def test_bad_radii_are_named(radii):
    with pytest.raises(ValueError, match=r"is not a pair of radii. Pass two positive floats"):
        make_noisy_circles(10, radii=radii)


def test_bad_ring_std_is_named():
    with pytest.raises(ValueError, match="ring_std=-1 is not a standard deviation"):
        make_noisy_circles(10, ring_std=-1)


def test_numpy_numbers_are_numbers():
    X, _ = make_noisy_circles(np.int64(10), n_noise=np.int32(1), noise_std=np.float32(2))
    assert X.shape == (10, 3)


@each_maker
def test_all_but_the_first_argument_are_keywords(make):
    with pytest.raises(TypeError, match="positional"):
        make(10, 2)
