"""What must work where nothing can be written; `.ci/readonly` makes such a place and starts this.

As a script, and where something can be written, it saves the model that the tests load.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import vicinal
from vicinal.compiling import CompilingWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))
Y = (X[:, 0] + 0.1 * RNG.normal(size=3000) > 0).astype(int)
FEW, FEW_Y = X[:150], Y[:150]


def nca(n=150, **params):
    """Fit a small model: with 3000 rows its sums are compiled."""
    given = {"regularization": 1e-3, **params}
    return vicinal.NeighborhoodComponents(2, max_iter=15, **given).fit(X[:n], Y[:n])


def is_writable(folder):
    """Whether a file can be made there, whoever asks."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@pytest.fixture(autouse=True, scope="module")
def place():
    """Be sure to test the library that was installed, in a place as it is meant to be."""
    package = Path(vicinal.__file__).parent
    assert package.is_relative_to(sys.prefix)
    assert not is_writable(package / "neighborhood" / "kernels")
    assert not is_writable(Path.home())


class TestNothingWritable:
    """Every family, in the order of this file: the first kernel says that it cannot be kept."""

    def test_the_first_compiled_kernel_says_so(self):
        with pytest.warns(CompilingWarning, match="Set NUMBA_CACHE_DIR") as said:
            model = nca(3000)
        assert "compiled" in model.engine_reason_
        assert len([each for each in said if each.category is CompilingWarning]) == 1
        assert model.score(X, Y) > 0.9

    def test_local_components(self):
        model = vicinal.LocalComponents(engine="fused", max_iter=5).fit(FEW)
        assert np.isfinite(model.score_samples(X[:20])).all()

    def test_latent_coincidence(self):
        model = vicinal.LatentCoincidence(max_iter=20).fit(FEW, FEW_Y)
        assert model.transform(FEW).shape[0] == 150

    def test_divergence_neighbors(self):
        assert vicinal.DivergenceNeighbors().fit_transform(FEW).shape == (150, 150)

    def test_divergence_embedding(self):
        model = vicinal.DivergenceEmbedding(method="isomap", disconnected="raise").fit(FEW)
        assert model.transform(X[200:210]).shape == (10, 2)

    def test_a_model_from_a_file(self):
        model = vicinal.load(os.environ["VICINAL_MODEL"])
        assert (model.predict(FEW) == FEW_Y).mean() > 0.9

    def test_saving_says_what_is_wrong(self):
        with pytest.raises(PermissionError, match="is not writable: choose another one"):
            vicinal.save(nca(), Path.home() / "model.skops")

    def test_libraries_that_cannot_do_without_say_what_to_set(self):
        with pytest.raises(ImportError, match="set NUMBA_CACHE_DIR to a folder"):
            vicinal.DivergenceEmbedding(method="umap").fit(FEW)

    @pytest.mark.filterwarnings("ignore:.*NUMBA_CACHE_DIR")
    def test_approximate_search_needs_none_of_them(self):
        embedding = vicinal.DivergenceEmbedding(search="approximate").fit(FEW).embedding_
        assert embedding.shape == (len(FEW), 2)


class TestTemporaryFolderWritable:
    """A folder for temporary files changes nothing, but one can save to it."""

    def test_kernels_are_not_kept_in_it(self):
        with pytest.warns(CompilingWarning, match="Set NUMBA_CACHE_DIR"):
            vicinal.DivergenceNeighbors().fit_transform(FEW)
        assert not any(Path(os.environ["TMPDIR"]).rglob("*.nbc"))

    @pytest.mark.parametrize(
        "make",
        [
            nca,
            lambda: vicinal.LocalComponents(max_iter=5).fit(FEW),
            lambda: vicinal.LatentCoincidence(max_iter=20).fit(FEW, FEW_Y),
            lambda: vicinal.DivergenceEmbedding().fit(FEW),
        ],
        ids=["nca", "local", "coincidence", "divergence"],
    )
    def test_saved_and_loaded(self, make):
        with tempfile.TemporaryDirectory() as folder:
            path, model = Path(folder, "model.skops"), make()
            vicinal.save(model, path)
            again = vicinal.load(path)
        method = "transform" if hasattr(model, "transform") else "score_samples"
        np.testing.assert_array_equal(getattr(again, method)(FEW), getattr(model, method)(FEW))


class TestKernelsPrepared:
    """What was compiled when something could be written needs nothing more."""

    def test_nothing_is_compiled_and_nothing_said(self):
        from vicinal.neighborhood.kernels.weights import rescale

        assert rescale(1.0, 2.0) == 0.5
        assert sum(rescale.stats.cache_hits.values()) == 1


if __name__ == "__main__":
    vicinal.save(nca(), os.environ["VICINAL_MODEL"])
