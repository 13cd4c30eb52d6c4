"""The methods that are compared, and how they are drawn."""

from dataclasses import dataclass

from benchmarks.common import environments
from benchmarks.peers import code

TORCH_RATE, TORCH_BATCH = 0.01, 1000

# The settings of a method are the values of one of its options, None: its default.
Setting = int | None
OURS, PEER, BASELINE = "ours", "peer", "baseline"
TWO_UPDATES = '{"max_iter": 2}'


@dataclass(frozen=True)
class Method:
    """Somebody's way to a map: the code that makes the model, and how it is drawn.

    `settings` are in the order of their cost. `warm_up`: arguments of the fit that does not count.
    Where that is to compile (`compiles`), it needs all rows: few would go other ways.
    """

    name: str
    about: str
    make: str
    color: str
    marker: str
    settings: tuple[Setting, ...] = (None,)
    option: str = "max_iter"
    home: str = "here"  # or the option that names the interpreter of its environment
    kind: str = PEER
    warm_up: str = "{}"
    compiles: bool = False

    def arguments(self, setting: Setting) -> dict[str, int]:
        """For the model."""
        return {} if setting is None else {self.option: setting}

    def words(self, setting: Setting) -> str:
        """What a table calls the setting."""
        if setting is None:
            return "default" if len(self.settings) > 1 else ""
        return f"{self.option}={setting}"


def our_nca(
    name: str, about: str, options: str, style: tuple[str, str], settings: tuple[Setting, ...]
) -> Method:
    """A variant of NeighborhoodComponents."""
    make = code.OUR_NCA.format(options=f"{options}, " if options else "")
    full = f"vicinal NCA{', ' * bool(name)}{name}"
    drawn = {"settings": settings, "kind": OURS}
    # So few updates alone would be done without the compiler.
    warm_up = '{"max_iter": 2, "engine": "fused"}'
    return Method(full, about, make, *style, **drawn, warm_up=warm_up, compiles=True)


def metric_learn(
    name: str, about: str, model: str, style: tuple[str, str], settings: tuple[Setting, ...]
) -> Method:
    """A model of metric-learn, `model` with its options: "LMNN learn_rate=1e-6"."""
    model, _, options = model.partition(" ")
    make = code.METRIC_LEARN.format(model=model, options=f"{options}, " if options else "")
    return Method(
        f"metric-learn {name}",
        about,
        make,
        *style,
        settings=settings,
        home="metric_learn",
        warm_up=TWO_UPDATES,
    )


METHODS = {
    "nca": our_nca(
        "",
        "`NeighborhoodComponents` as it comes: L-BFGS up to 5000 rows, random batches beyond",
        "",
        ("#0b5fd6", "o"),
        (5, 20, 50, 200, None),
    ),
    "nca-exact": our_nca(
        "exact",
        '`solver="lbfgs"`: all pairs in every update, no penalty (classic NCA)',
        'solver="lbfgs"',
        ("#00a3c7", "s"),
        (5, 20, 50, None),
    ),
    "nca-subsample": our_nca(
        "subsample",
        '`batching="subsample"`: L-BFGS on 3000 of the rows',
        'batching="subsample"',
        ("#7fbf3f", "^"),
        (5, 20, 50, None),
    ),
    "nca-stochastic": our_nca(
        "stochastic",
        '`batching="stochastic"`: 500 rows against all in every update',
        'batching="stochastic"',
        ("#1b9e77", "D"),
        (20, 100, 500, None),
    ),
    "nca-compact": our_nca(
        "compact",
        '`kernel="compact"`',
        'kernel="compact"',
        ("#7b3fbf", "h"),
        (20, 50, 200, None),
    ),
    "nca-pca": our_nca(
        "PCA start", '`init="pca"`', 'init="pca"', ("#c08be8", "P"), (5, 20, 50, 200, None)
    ),
    "nca-log": our_nca(
        "log",
        '`objective="log"`, the objective that pytorch-metric-learning has',
        'objective="log"',
        ("#5f8fa8", ">"),
        (5, 20, 50, 200, None),
    ),
    "coincidence": Method(
        "vicinal LatentCoincidence",
        "`LatentCoincidence` as it comes, learning from labels",
        code.COINCIDENCE,
        "#2f2f7f",
        "p",
        settings=(5, 20, 50, None),
        kind=OURS,
        warm_up=TWO_UPDATES,
    ),
    "sklearn-nca": Method(
        "scikit-learn NCA",
        "`NeighborhoodComponentsAnalysis`, by default at most 50 updates",
        code.SCIKIT_LEARN,
        "#d62728",
        "o",
        settings=(5, 20, None),
        warm_up=TWO_UPDATES,
    ),
    "metric-learn-nca": metric_learn(
        "NCA", "`NCA`, by default at most 100 updates", "NCA", ("#ff7f0e", "s"), (5, 20, None)
    ),
    "lmnn": metric_learn(
        "LMNN",
        "`LMNN`, by default at most 1000 updates, learn_rate=1e-7",
        "LMNN",
        ("#8c564b", "D"),
        (20, 100, None),
    ),
    "lmnn-fast": metric_learn(
        "LMNN, learn_rate=1e-6",
        "the same with a larger rate",
        "LMNN learn_rate=1e-6",
        ("#c9986a", "^"),
        (20, 100, None),
    ),
    "torch-nca": Method(
        "pytorch-metric-learning NCA",
        f"`NCALoss` of a linear map, distances not normalized, Adam with a rate of {TORCH_RATE:g}, "
        f"batches of {TORCH_BATCH} rows",
        code.TORCH.format(rate=TORCH_RATE, batch=TORCH_BATCH),
        "#e377c2",
        "<",
        settings=(5, 20, 100, 300),
        option="epochs",
        home="torch",
        warm_up='{"epochs": 2}',
    ),
    "umap": Method(
        "UMAP, supervised",
        "`UMAP` given the labels; without a seed, which would hold it to one core",
        code.UMAP,
        "#bcbd22",
        "P",
        settings=(50, None),
        option="n_epochs",
        warm_up='{"n_epochs": 12}',  # its transform takes a third of them
        compiles=True,
    ),
    "pca": Method("PCA", "no labels", code.PRINCIPAL, "0.5", "*", kind=BASELINE),
    "lda": Method(
        "LDA",
        "at most one dimension less than there are classes",
        code.DISCRIMINANT,
        "black",
        "*",
        kind=BASELINE,
    ),
}

# Of methods that are not at home here, by the option that names the interpreter.
HOMES = {"metric_learn": environments.METRIC_LEARN, "torch": environments.TORCH}
