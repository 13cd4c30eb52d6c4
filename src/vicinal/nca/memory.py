"""What a fit takes in memory beside X, reckoned before it begins (docs/decisions/0026)."""

from vicinal.inputs.features import BLOCK_BYTES
from vicinal.inputs.splits import MOST_HELD_BACK, MOST_VALIDATION_KEYS
from vicinal.nca.preparation import MOST_COMPONENTS
from vicinal.nca.recipe import BATCH_SIZE, Recipe, choose_recipe
from vicinal.nca.settings import NeighborhoodSettings
from vicinal.rows.memory import Need

__all__ = ["needs_of_fit", "needs_of_stream"]

# Numbers of eight bytes for every row: its class, its place, its weight, and what sorts them.
_NUMBERS_OF_ROW = 9

# Matrices of all pairs of columns at a time, and blocks of rows.
_MATRICES, _BLOCKS = 14, 5

# Copies of points that an evaluation makes, of the rows it looks at and of their projections.
_COPIES, _PROJECTIONS = 3, 12

# Rows that folds choose by, and what a GPU's or a tile's share of an engine takes.
_FOLD_ROWS, _TILES = 5000, 40e6


def needs_of_fit(settings: NeighborhoodSettings, n: int, D: int, itemsize: int) -> list[Need]:
    """Of `fit` to n rows of D columns."""
    recipe, d = choose_recipe(settings, n), _most_components(settings, D)
    return [
        *_needs_of_rows(settings, recipe, n, d, itemsize),
        *_needs_of_points(recipe, n, D, d, itemsize),
        *_needs_of_columns(D),
    ]


def needs_of_stream(settings: NeighborhoodSettings, n: int, D: int, itemsize: int) -> list[Need]:
    """Of `partial_fit` with n more rows of D columns."""
    size = min(n, settings.batch_size or BATCH_SIZE)
    kept = settings.reservoir_size * D * 8
    instead = "lower reservoir_size or batch_size"
    return [
        Need("the order of the rows", 8 * 3 * n, "call partial_fit with fewer rows at a time"),
        Need("the rows it keeps, and a batch", _COPIES * (kept + size * D * 8), instead),
        *_needs_of_columns(D),
    ]


def _most_components(settings: NeighborhoodSettings, D: int) -> int:
    """Of the maps that may be tried."""
    d = settings.n_components
    return min(D, d if isinstance(d, int) else MOST_COMPONENTS)


def _needs_of_rows(
    settings: NeighborhoodSettings, recipe: Recipe, n: int, d: int, itemsize: int
) -> list[Need]:
    """What is kept of every row, few numbers each."""
    instead = "lower n_components, or learn with partial_fit, which keeps reservoir_size rows"
    projected = 2 * d * itemsize
    if recipe.batching in ("farthest", "projection"):
        projected += (2 * d + 6) * 8
    if settings.kernel == "compact":  # a tree of all points says how far its neighbors are
        projected += 4 * d * 8
    return [
        Need("classes and places of all rows", 8 * _NUMBERS_OF_ROW * n, instead),
        Need(f"projections of all rows to {d} dimensions", projected * n, instead),
    ]


def _needs_of_points(recipe: Recipe, n: int, D: int, d: int, itemsize: int) -> list[Need]:
    """What is looked at, as a whole or a batch at a time."""
    row = _COPIES * D * itemsize + _PROJECTIONS * d * 8
    needs = []
    if recipe.batching in ("full", "stochastic"):
        instead = "set batching='random', which looks at a batch at a time"
        needs.append(Need(f"all rows, by batching={recipe.batching!r}", n * row, instead))
    others = min(n, recipe.batch_size or 0) + min(n, _FOLD_ROWS if recipe.chooses else 0)
    if recipe.early_stopping:
        others += min(n, MOST_HELD_BACK + MOST_VALIDATION_KEYS)
    instead = "lower batch_size, set regularization to a number, or early_stopping=False"
    return [*needs, Need("batches, folds and rows held back", others * row, instead)]


def _needs_of_columns(D: int) -> list[Need]:
    """Whatever the number of rows."""
    return [
        Need(f"matrices of {D} columns", _MATRICES * D * D * 8, "choose fewer columns"),
        Need("blocks of rows", _BLOCKS * BLOCK_BYTES + _TILES, ""),
    ]
