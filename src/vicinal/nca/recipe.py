"""What "auto" means: from the user's choices and the size of the data to a complete recipe."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from vicinal.inputs.checks import check_choice, check_count
from vicinal.nca.batches import BATCHINGS
from vicinal.nca.settings import NeighborhoodSettings

__all__ = ["EXACT_SOLVERS", "SOLVERS", "Recipe", "choose_recipe"]

# These need the same objective at every update; the others may see a new batch each time.
EXACT_SOLVERS = ("lbfgs", "cg", "bold-driver")
SOLVERS = ("auto", *EXACT_SOLVERS, "sgd", "adam")

# What rows held back are scored by.
METRICS = ("objective", "accuracy")

# Whose rates are planned for all updates from the first one on.
_SCHEDULED_SOLVERS = ("adam",)

# Up to here an exact fit takes seconds, and no batch could tell it more.
EXACT_UP_TO = 5000

# Rows of a batch. Fewer make the neighborhoods of a batch thinner than those of the data.
BATCH_SIZES = {"subsample": 3000, "stochastic": 500}
BATCH_SIZE = 2000

# Updates of exact solvers; of the others, over which Adam's schedule is spread, as many as make
# this many epochs, within these bounds.
MAX_ITER = 200
EPOCHS, FEWEST_UPDATES, MOST_UPDATES = 150, 1000, 4000

# λ = share · (variances of all features within classes) / n_samples: of streams, and where
# there are no rows to choose by. Measured in docs/decisions/0017.
STREAMED_PENALTY, USUAL_PENALTY = 0.3, 1.0


@dataclass(frozen=True)
class Recipe:
    """How a fit is done, nothing left open.

    Attributes
    ----------
    solver, batching : str
    batch_size : int or None
        None for full batches.
    regularization : float or "auto"
        λ, or that it is chosen by folds.
    early_stopping : bool
    max_iter : int
    reason : str
    eta0, t0 : float or None
        Of the rates of SGD; None: found by trials.
    validation_every : int or None
        Updates between two looks at the rows held back; None: as is usual.
    validation_metric : {"objective", "accuracy"}
    """

    solver: str
    batching: str
    batch_size: int | None
    regularization: float | str
    early_stopping: bool
    max_iter: int
    reason: str
    eta0: float | None = None
    t0: float | None = None
    validation_every: int | None = None
    validation_metric: str = "objective"

    @property
    def is_batched(self) -> bool:
        """Whether every update sees another batch."""
        return self.batching in BATCHINGS

    @property
    def is_scheduled(self) -> bool:
        """Whether to make all updates is the proper end of the fit, and no other is looked for."""
        return self.solver in _SCHEDULED_SOLVERS or self.max_iter == 0

    @property
    def ends_by_gain(self) -> bool:
        """Whether an update that gains little is a sign of convergence."""
        return not (self.is_batched or self.is_scheduled)

    @property
    def chooses(self) -> bool:
        """Whether λ is chosen by folds."""
        return isinstance(self.regularization, str)

    def without_updates(self) -> "Recipe":
        """For a map that is its start: an exact look at it, and no update."""
        return replace(self, max_iter=0)

    def report(self, **chosen: Any) -> dict[str, Any]:
        """What the fitted model tells about it, and about what it has chosen."""
        return {**asdict(self), **chosen}


def choose_recipe(settings: NeighborhoodSettings, n: int) -> Recipe:
    """Complete the parameters of an estimator for `n` training points."""
    check_choice("solver", settings.solver, SOLVERS)
    check_choice("batching", settings.batching, ("auto", "full", "subsample", *BATCHINGS))
    batching, why = _batching(settings, n)
    batched = batching in BATCHINGS
    solver = settings.solver
    if solver == "auto":
        solver = "adam" if batched else "lbfgs"
    elif solver in EXACT_SOLVERS and batched:
        raise ValueError(
            f"solver={solver!r} needs the same objective at every update, which "
            f"batching={batching!r} does not give: use solver='adam' or 'sgd', or batching='full' "
            "or 'subsample'."
        )
    batch_size = _batch_size(settings, batching, n)
    return Recipe(
        solver,
        batching,
        batch_size,
        _regularization(settings),
        batched if settings.early_stopping == "auto" else bool(settings.early_stopping),
        settings.max_iter or _max_iter(solver, n, batch_size),
        why,
        settings.eta0,
        settings.t0,
        settings.validation_every,
        check_choice("validation_metric", settings.validation_metric, METRICS),
    )


def _batching(settings: NeighborhoodSettings, n: int) -> tuple[str, str]:
    if settings.batching != "auto":
        return settings.batching, f"batching={settings.batching!r} asked for by name"
    if settings.solver in EXACT_SOLVERS:
        return "full", f"solver={settings.solver!r} asked for by name: exact objective"
    limit = EXACT_UP_TO if settings.solver == "auto" else BATCH_SIZE
    if settings.batch_size is not None:
        limit = check_count("batch_size", settings.batch_size, 2)
    if n <= limit:
        return "full", f"{n} points, at most {limit}: exact objective"
    return "random", f"{n} points, more than {limit}: random batches"


def _batch_size(settings: NeighborhoodSettings, batching: str, n: int) -> int | None:
    if batching == "full":
        if settings.batch_size is not None and settings.batching == "full":
            raise ValueError(
                f"batch_size={settings.batch_size} has no meaning with batching='full': leave "
                "it None."
            )
        return None
    if settings.batch_size is None:
        return min(n, BATCH_SIZES.get(batching, BATCH_SIZE))
    return min(n, check_count("batch_size", settings.batch_size, 2))


def _max_iter(solver: str, n: int, batch_size: int | None) -> int:
    if solver in EXACT_SOLVERS:
        return MAX_ITER
    updates = EPOCHS * n // (batch_size or n)
    return min(max(updates, FEWEST_UPDATES), MOST_UPDATES)


def _regularization(settings: NeighborhoodSettings) -> float | str:
    if not isinstance(settings.regularization, str):
        return float(settings.regularization)
    return 0.0 if settings.solver in EXACT_SOLVERS else settings.regularization
