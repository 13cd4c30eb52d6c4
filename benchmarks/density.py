"""Held-out log-likelihood and time of LocalComponents, next to other density estimators.

    python benchmarks/density.py [--splits 5] [--sets iris wine] [--save]

Random splits 75/25, the same for every method. Peers: scikit-learn (KernelDensity,
GaussianMixture, FastICA with kernel densities of the sources), SciPy, statsmodels and KDEpy;
the last two are left out where they are not installed. Needs the data sets (set VICINAL_DATA);
one that is not here is skipped. Every fit is reported on stderr as it ends. On a machine with other
work, set OPENBLAS_NUM_THREADS=1: threads that wait for each other slow small matrices down.
"""

import argparse
import importlib.util
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from common import Page, arguments
from scipy.stats import gaussian_kde
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import StandardScaler

from vicinal import LocalComponents, datasets


class Rules(NamedTuple):
    """What of a set is used, and how."""

    most_train: int | None = None
    most_test: int | None = None
    standardize: bool = True
    most_splits: int | None = None


SETS = {
    "iris": Rules(),
    "wine": Rules(),
    "wdbc": Rules(),
    "magic": Rules(4000, 4000),
    "landsat": Rules(4000, 4000),
    # Some pixels are almost constant: in standard units they would be nearly all there is.
    "usps": Rules(1000, 2000, standardize=False, most_splits=2),
}

OURS = {
    "full": {},
    "full, ν auto": {"regularization": "auto"},
    "search": {"gaussian": "search"},
    "search, ν auto": {"gaussian": "search", "regularization": "auto"},
    "EM Gaussian, ν auto": {"gaussian": "em", "regularization": "auto"},
    "local, ν auto": {"covariance": "local", "regularization": "auto"},
}
CANDIDATES = ("full, ν auto", "EM Gaussian, ν auto", "search, ν auto", "local, ν auto")
HEADLINE = "chosen by validation"

VALIDATION = 0.2
MOST_FOR_LOCAL = 100  # features: local covariances need d (d + 3) / 2 coordinates of every point
MOST_FOR_STATSMODELS = 2000  # n d: that of wine is 1729
WIDTHS = np.logspace(-1.25, 0.25, 20)  # of kernels, as shares of the standard deviation
MANY_FEATURES = 100  # a mixture then has at most three components by BIC
COMPONENTS = (1, 2, 3, 5, 7, 10)
FLOORS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1)

# Log-density of rows; a method learns one from rows, with a seed.
Density = Callable[[np.ndarray], np.ndarray]
Method = Callable[[np.ndarray, int], Density]


class LeftOut(Exception):  # noqa: N818  (the message is what a table says in its place)
    """A method does not take part here."""


class Split(NamedTuple):
    """Training and test part of a set."""

    X: np.ndarray
    X_test: np.ndarray


class Run(NamedTuple):
    """What a method did on a split; `problem` says why there is no score."""

    score: float
    seconds: float
    problem: str = ""
    converged: bool = True


class Mean(NamedTuple):
    """A mean over splits and its standard error, where there is one."""

    value: float
    error: float | None = None

    @classmethod
    def of(cls, values: np.ndarray) -> "Mean":
        """Of one value for each split."""
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else None
        return cls(float(values.mean()), error)

    def words(self, sign: str = "") -> str:
        """Mean ± error; the sign "+" shows that of positive means, too."""
        error = "" if self.error is None else f" ± {self.error:.3f}"
        return f"{self.value:{sign}.3f}{error}"


def random_split(X: np.ndarray, rules: Rules, seed: int) -> Split:
    X, X_test = train_test_split(X, test_size=0.25, random_state=seed)
    X, X_test = X[: rules.most_train], X_test[: rules.most_test]
    if not rules.standardize:
        return Split(X, X_test)
    scaler = StandardScaler().fit(X)
    return Split(scaler.transform(X), scaler.transform(X_test))


class ByValidation:
    """The method with the best likelihood on rows held back, fitted to all rows.

    `choices` counts which it was.
    """

    def __init__(self, methods: dict[str, Method]) -> None:
        self.methods = methods
        self.choices: Counter[str] = Counter()

    def __call__(self, X: np.ndarray, seed: int) -> Density:
        """Choose and fit."""
        learning, held = train_test_split(X, test_size=VALIDATION, random_state=seed)
        part = Split(learning, held)
        runs = {name: measure(method, part, seed) for name, method in self.methods.items()}
        scores = {name: run.score for name, run in runs.items() if not run.problem}
        if not scores:
            raise ValueError("no candidate works")
        best = max(scores, key=lambda name: scores[name])
        self.choices[best] += 1
        return self.methods[best](X, seed)

    def words(self) -> str:
        """What was chosen how often."""
        return "; ".join(f"{name} ({count} ×)" for name, count in self.choices.most_common())


def ours(name: str) -> Method:
    parameters = OURS[name]

    def fit(X: np.ndarray, seed: int) -> Density:
        d = X.shape[1]
        if parameters.get("covariance") == "local" and d > MOST_FOR_LOCAL:
            raise LeftOut(f"left out: {d * (d + 3) // 2} coordinates for every point")
        return LocalComponents(random_state=seed, **parameters).fit(X).score_samples

    return fit


def kernel_density(X: np.ndarray, seed: int) -> Density:
    # All rows in one leaf: the bounds of the tree are wrong in high dimension.
    model = KernelDensity(leaf_size=len(X))
    grid = {"bandwidth": spread(X) * WIDTHS}
    return GridSearchCV(model, grid, cv=5).fit(X).best_estimator_.score_samples


def spread(X: np.ndarray) -> float:
    """Root of the mean variance of a feature: 1 in standard units."""
    return float(np.sqrt(X.var(axis=0).mean()))


def scipy_density(factor: float | None = None) -> Method:
    """Kernels with the shape of the covariance, `factor` times as wide (None: by Scott's rule)."""

    def fit(X: np.ndarray, seed: int) -> Density:
        model = gaussian_kde(X.T, bw_method=factor)
        return lambda points: model.logpdf(points.T)

    return fit


def statsmodels_density(X: np.ndarray, seed: int) -> Density:
    if X.size > MOST_FOR_STATSMODELS:
        raise LeftOut("left out: a loop over the rows in Python for every step of its search")
    from statsmodels.nonparametric.kernel_density import KDEMultivariate

    model = KDEMultivariate(X, "c" * X.shape[1], bw="cv_ml")
    return lambda points: np.log(model.pdf(points))


def kdepy_density(X: np.ndarray, seed: int) -> Density:
    from KDEpy import NaiveKDE

    n, d = X.shape
    model = NaiveKDE(bw=spread(X) * n ** (-1 / (d + 4))).fit(X)
    return lambda points: log_of_kdepy(model.evaluate(points))


def log_of_kdepy(densities: np.ndarray) -> np.ndarray:
    """Without the 2e-16 that KDEpy adds to every density "for contour plotting"."""
    added = np.finfo(float).eps
    lost = int((~(densities > 1000 * added)).sum())
    if lost:
        count = f"{lost} of {len(densities)}"
        raise ValueError(f"{count} test points have densities near the 2e-16 that it adds to all")
    return np.log(densities - added)


def mixture(n_components: int, floor: float) -> Method:
    """`floor`: what is added to the variances."""

    def fit(X: np.ndarray, seed: int) -> Density:
        model = GaussianMixture(n_components, reg_covar=floor, random_state=seed)
        return model.fit(X).score_samples

    return fit


def mixture_by_bic(X: np.ndarray, seed: int) -> Density:
    most = 3 if X.shape[1] > MANY_FEATURES else 10
    models = [GaussianMixture(k, random_state=seed).fit(X) for k in range(1, most + 1)]
    return min(models, key=lambda model: model.bic(X)).score_samples


def independent_components(X: np.ndarray, seed: int) -> Density:
    """Product of densities of the sources, each by kernels with Silverman's bandwidth."""
    if np.linalg.matrix_rank(X - X.mean(axis=0)) < X.shape[1]:  # FastICA would divide by rounding
        raise ValueError("singular covariance")
    ica = FastICA(whiten="unit-variance", random_state=seed).fit(X)
    log_volume = np.linalg.slogdet(ica.components_)[1]
    sources = [gaussian_kde(source, "silverman") for source in ica.transform(X).T]

    def log_density(points: np.ndarray) -> np.ndarray:
        columns = ica.transform(points).T
        logs = [model.logpdf(column) for model, column in zip(sources, columns, strict=True)]
        return np.sum(logs, axis=0) + log_volume

    return log_density


def our_methods() -> dict[str, Method]:
    fits: dict[str, Method] = {name: ours(name) for name in OURS}
    fits[HEADLINE] = ByValidation({name: fits[name] for name in CANDIDATES})
    return fits


def peers() -> dict[str, Method]:
    factors = {f"factor {factor:.2g}": scipy_density(factor) for factor in WIDTHS}
    mixtures = {
        f"{k} components, reg_covar {floor:g}": mixture(k, floor)
        for k in COMPONENTS
        for floor in FLOORS
    }
    return {
        "KernelDensity, 5-fold CV": kernel_density,
        "gaussian_kde, Scott": scipy_density(),
        "gaussian_kde, by validation": ByValidation(factors),
        "KDEMultivariate, cv_ml": statsmodels_density,
        "KDEpy NaiveKDE, Scott": kdepy_density,
        "GaussianMixture, BIC": mixture_by_bic,
        "GaussianMixture, by validation": ByValidation(mixtures),
        "FastICA + gaussian_kde": independent_components,
    }


def measure(method: Method, part: Split, seed: int) -> Run:
    """Fit and score once, whatever happens."""
    start = time.perf_counter()
    score, problem = np.nan, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            score = float(method(part.X, seed)(part.X_test).mean())
        except LeftOut as reason:
            problem = str(reason)
        except ImportError as error:
            problem = f"not installed: {error.name}"
        except (ValueError, ArithmeticError) as error:  # LinAlgError is a ValueError
            problem = f"fails: {short(error)}"
    if not problem and not np.isfinite(score):
        problem = f"fails: mean log-density {score:g}"
    converged = not any(issubclass(one.category, ConvergenceWarning) for one in caught)
    return Run(score, time.perf_counter() - start, problem, converged)


def short(error: Exception) -> str:
    """First sentence of a message, fit for a table."""
    words = str(error).split("\n")[0].split(". ")[0].rstrip(".").replace("|", "/")
    words = words or type(error).__name__
    return words if len(words) <= 90 else words[:87] + "..."


class Comparison:
    """All methods on the splits of a set."""

    def __init__(self, name: str, n_splits: int) -> None:
        self.name, self.rules = name, SETS[name]
        self.n_splits = min(n_splits, self.rules.most_splits or n_splits)
        self.peers = peers()
        self.methods = {**our_methods(), **self.peers}
        self.runs: dict[str, list[Run]] = {method: [] for method in self.methods}

    def run(self) -> None:
        """Every method on every split."""
        for seed, part in enumerate(self.splits()):
            self.n_train, self.n_test, self.d = *map(len, part), part.X.shape[1]
            for name, method in self.methods.items():
                run = measure(method, part, seed)
                self.runs[name].append(run)
                said = run.problem or f"{run.score:.3f}"
                line = f"{self.name}, split {seed}, {name}: {said}, {run.seconds:.1f} s"
                print(line, file=sys.stderr, flush=True)

    def splits(self) -> Iterator[Split]:
        """The same for every method, all in double precision."""
        X = datasets.load(self.name, download=False).data.astype(np.float64)
        for seed in range(self.n_splits):
            yield random_split(X, self.rules, seed)

    def scores(self, method: str) -> np.ndarray:
        """One for each split."""
        return np.array([run.score for run in self.runs[method]])

    def works(self, method: str) -> bool:
        """Whether there is a score for every split."""
        return not any(run.problem for run in self.runs[method])

    def best(self, methods: Sequence[str] | None = None) -> str | None:
        """The one with the highest mean; of all methods, unless some are given."""
        working = [name for name in methods or self.methods if self.works(name)]
        return max(working, key=lambda name: self.scores(name).mean(), default=None)

    def best_peer(self) -> str | None:
        """The best that is not ours."""
        return self.best(list(self.peers))

    def above(self, method: str, other: str) -> Mean:
        """By how much a method is better than another, from pairs of scores."""
        return Mean.of(self.scores(method) - self.scores(other))

    def problem(self, method: str) -> str:
        """Why there is no mean, and how often."""
        problems = [run.problem for run in self.runs[method] if run.problem]
        most, _ = Counter(problems).most_common(1)[0]
        times = "" if len(problems) == self.n_splits else f" ({len(problems)} of {self.n_splits} ×)"
        return most + times

    def verdict(self) -> str:
        """How the headline row stands to the best one."""
        if not self.works(HEADLINE):
            return "fails"
        gap = self.above(HEADLINE, self.best() or HEADLINE)
        if gap.value >= 0:
            return "best"
        if gap.error is None:
            return "below the best"
        return "within one s.e." if -gap.value <= gap.error else "below by more than one s.e."


class Report:
    """A table for each set, then a summary."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.done: list[Comparison] = []

    def add(self, comparison: Comparison) -> None:
        """Say what came of a set."""
        self.done.append(comparison)
        one = comparison
        splits = "1 split" if one.n_splits == 1 else f"{one.n_splits} splits"
        sizes = f"{one.n_train} training rows, {one.n_test} test rows, d = {one.d}, {splits}"
        self.page.say(f"## {one.name}: {sizes}\n")
        row = self.page.table(["method", "log-likelihood", "less the best", "seconds"])
        for method in one.methods:
            row(*self.cells(one, method))
        self.page.say()
        self.standing(one)
        self.choices(one)

    def cells(self, one: Comparison, method: str) -> tuple[str, ...]:
        """Of a row."""
        label = f"**{method}**" if method == HEADLINE else method
        if not one.works(method):
            return label, one.problem(method), "", ""
        best = one.best() or method
        above = "best" if method == best else one.above(method, best).words()
        seconds = np.mean([run.seconds for run in one.runs[method]])
        not_converged = sum(not run.converged for run in one.runs[method])
        label += f" (not converged: {not_converged} ×)" if not_converged else ""
        return label, Mean.of(one.scores(method)).words(), above, f"{seconds:.2f}"

    def standing(self, one: Comparison) -> None:
        """Where the headline row is."""
        best, peer, verdict = one.best(), one.best_peer(), one.verdict()
        if best is None or verdict == "fails":
            self.page.say(f"The headline row ({HEADLINE}) fails.\n")
            return
        gap = "" if verdict == "best" else f" ({best}): {one.above(HEADLINE, best).words('+')}"
        words = {"within one s.e.": "within one standard error of the best"}
        words["below by more than one s.e."] = "more than one standard error below the best"
        line = f"The headline row ({HEADLINE}) is {words.get(verdict, verdict)}{gap}."
        if peer is not None:
            line += f" Less the best peer ({peer}): {one.above(HEADLINE, peer).words('+')}."
        self.page.say(line + "\n")

    def choices(self, one: Comparison) -> None:
        """What the methods that choose have chosen."""
        for name, method in one.methods.items():
            if isinstance(method, ByValidation) and method.choices:
                self.page.say(f"- {name}: {method.words()}")
        self.page.say()

    def summary(self) -> None:
        """All sets."""
        self.page.say("## Summary\n")
        gaps = ("best of all", "less the best", "best peer", "less the best peer")
        row = self.page.table(["set", "d", "splits", HEADLINE, *gaps, "verdict"])
        for one in self.done:
            best, peer = one.best(), one.best_peer()
            works = one.works(HEADLINE)
            score = Mean.of(one.scores(HEADLINE)).words() if works else one.problem(HEADLINE)
            cells = []
            for other in (best, peer):
                above = one.above(HEADLINE, other).words("+") if works and other else ""
                cells += [other or "none works", above]
            row(one.name, one.d, one.n_splits, score, *cells, one.verdict())
        self.page.say()
        good = sum(one.verdict() in ("best", "within one s.e.") for one in self.done)
        self.page.say(f"Best or within one standard error of the best: {good} of {len(self.done)}.")


PROTOCOL = """
Mean log-density of test rows, in nats per row: higher is better. Mean ± standard error over random
splits, 75 % training and 25 % test rows (magic and landsat: at most 4000 of each; usps: at most
1000 and 2000, two splits), the same for all methods. Features are standardized by the training
part, but for usps, where some pixels are almost constant. "Less the best": difference to the
method with the highest mean of all, ours included, ± the standard error of the differences on the
same splits.
Seconds: of fitting, all choices included, and scoring; mean over the splits, each measured once;
numba's compiler ran before. A method that fails on any split has no mean.

The first {n_ours} rows are LocalComponents, default settings but for those said. The headline row
is "{headline}", what a grid search would give: whichever of the rows with ν auto has
the best likelihood on {validation} of the training rows after learning from the others, fitted to
all of them.

The form of local covariances was chosen in view of the first split of iris, wine, wdbc and magic
(docs/decisions/0007).

- KernelDensity (scikit-learn): bandwidth by GridSearchCV, 5 folds, {n_widths} values between
  {lowest:.2g} and {highest:.2g} standard deviations of a feature. leaf_size is n, because with
  smaller leaves the bounds of its tree make the log-density wrong in high dimension: with the
  default by {tree_error:.1f} nats in the mean for normal points in 36 dimensions, bandwidth 0.5.
- gaussian_kde (SciPy): kernels with the shape of the covariance of the data, as wide as Scott's
  rule says, or the best of {n_widths} widths on {validation} of the training rows.
- KDEMultivariate (statsmodels): one bandwidth for each feature, by leave-one-out likelihood. Only
  where n d is at most {most_statsmodels}: every step of its search loops over the rows in Python.
- KDEpy: NaiveKDE, because FFTKDE needs a grid and TreeKDE cuts the kernels off. It has no way to
  choose a bandwidth in more than one dimension: by Scott's rule, n^(-1/(d+4)) standard deviations.
  With that of KernelDensity it would be the same density. It adds 2.2e-16 to every density, which
  is subtracted here; where that is over a thousandth of a density, the method fails.
- GaussianMixture (scikit-learn), full covariances: 1 to 10 components (usps: 1 to 3) by BIC with
  the default reg_covar of 1e-6; or {components} components and reg_covar of
  {floors} by the likelihood on {validation} of the training rows. One
  component is a single Gaussian.
- FastICA (scikit-learn) with all components, then the product of gaussian_kde of each source, with
  Silverman's bandwidth, times the determinant of the unmixing matrix.

"Not converged": number of splits with a warning of that; by BIC, from any of the fits; by
validation, from the last.
"""


def protocol() -> str:
    return PROTOCOL.strip().format(
        n_ours=len(our_methods()),
        headline=HEADLINE,
        validation=f"{100 * VALIDATION:g} %",
        n_widths=len(WIDTHS),
        lowest=WIDTHS[0],
        highest=WIDTHS[-1],
        tree_error=tree_error(),
        most_statsmodels=MOST_FOR_STATSMODELS,
        components=", ".join(map(str, COMPONENTS)),
        floors=", ".join(f"{floor:g}" for floor in FLOORS),
    )


def tree_error(n: int = 600, d: int = 36, bandwidth: float = 0.5) -> float:
    """Mean error of KernelDensity's log-density with its default leaves."""
    X, points = np.split(np.random.default_rng(0).normal(size=(n + 100, d)), [n])
    by_tree, exact = (
        KernelDensity(bandwidth=bandwidth, leaf_size=size).fit(X).score_samples(points)
        for size in (KernelDensity().leaf_size, n)
    )
    return float((by_tree - exact).mean())


def warm_up() -> None:
    """Let numba compile what is timed later."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    for parameters in OURS.values():
        for engine in ("blocked", "fused"):
            LocalComponents(engine=engine, random_state=0, **parameters).fit(X).score_samples(X)


def here(page: Page, wanted: list[str] | None) -> list[str]:
    """The sets asked for that are available."""
    names = [name for name in SETS if not wanted or name in wanted]
    for name in names:
        if not datasets.is_available(name):
            page.say(f"{name} is not here and was skipped: set VICINAL_DATA.\n")
    return [name for name in names if datasets.is_available(name)]


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=5, help="usps: at most 2")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), help="default: all")
    return parser.parse_args()


def main() -> None:
    options = parse()
    packages = [name for name in ("statsmodels", "KDEpy") if importlib.util.find_spec(name)]
    page = Page("Held-out log-likelihood of density estimators", packages)
    page.say(protocol() + "\n")
    warm_up()
    report = Report(page)
    for name in here(page, options.sets):
        comparison = Comparison(name, options.splits)
        comparison.run()
        report.add(comparison)
    report.summary()
    if options.save:
        page.save("density")


if __name__ == "__main__":
    main()
