"""What a pipeline is made of; an estimator by itself is one of a single step."""

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

__all__ = ["last_step", "steps_before", "steps_of"]


def steps_of(model: BaseEstimator) -> list[BaseEstimator]:
    """Steps of a pipeline that do not pass all through, in order; else the model alone.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from vicinal import LocalComponents
    >>> from vicinal.pipelines import steps_of
    >>> steps_of(make_pipeline(StandardScaler(), "passthrough", LocalComponents()))
    [StandardScaler(), LocalComponents()]
    >>> steps_of(LocalComponents())
    [LocalComponents()]
    """
    return [step for _, step in getattr(model, "steps", ()) if _does_something(step)] or [model]


def last_step(model: BaseEstimator) -> BaseEstimator:
    """The model itself, or the last step of a pipeline."""
    return steps_of(model)[-1]


def steps_before(model: BaseEstimator) -> Pipeline | None:
    """What a pipeline does before its last step; None where there is nothing before it."""
    places = [i for i, (_, step) in enumerate(getattr(model, "steps", ())) if _does_something(step)]
    return model[: places[-1]] if len(places) > 1 else None


def _does_something(step: BaseEstimator | str | None) -> bool:
    """Whether a step is an estimator, not a word ("passthrough") or None in the place of one."""
    return step is not None and not isinstance(step, str)
