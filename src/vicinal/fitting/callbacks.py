"""scikit-learn's callbacks (``sklearn.callback``, 1.9 and later), where it has them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from vicinal.fitting.checkpoints.journal import written_by
from vicinal.fitting.update import Update

__all__ = ["CallbackSupport", "ScikitLearnCallbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Callable) -> Callable:
        """Leave the method as it is."""
        return method


def _not_yet(parameters: NDArray) -> dict[str, Any]:
    """Before there are any."""
    return {}


class ScikitLearnCallbacks:
    """Bridge from the loop to the callbacks set on an estimator with ``set_callbacks``.

    Parameters
    ----------
    estimator : estimator
    max_iter : int
    X, y : ndarray, or None for y
        What callbacks are shown as training data.
    fitted_attributes : callable
        From parameters to the attributes a fitted copy of the estimator needs; may be set later,
        and again.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        max_iter: int,
        X: NDArray,
        y: NDArray | None,
        fitted_attributes: Callable[[NDArray], dict[str, Any]] = _not_yet,
    ) -> None:
        self._data = {"estimator": estimator, "X": X, "y": y}
        self.fitted_attributes = fitted_attributes
        self._context = None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=max_iter)
            self._context.call_on_fit_task_begin(**self._data)

    def __call__(self, update: Update) -> bool:
        """Tell the callbacks of an update; True if one of them asks to stop."""
        if self._context is None or update.iteration == 0:
            return False
        task = self._context.subcontext(task_name="update")
        task.call_on_fit_task_begin(**self._data)
        return self._end(task, update.parameters)

    def close(self, parameters: NDArray) -> None:
        """Tell the callbacks that the fit has ended with these parameters."""
        if self._context is not None:
            self._end(self._context, parameters)

    def _end(self, task: Any, parameters: NDArray) -> bool:
        attributes = partial(self.fitted_attributes, parameters)
        with written_by(None):  # what callbacks ask for is no part of the fit
            return self._told(task, attributes)

    def _told(self, task: Any, attributes: Callable[[], dict[str, Any]]) -> bool:
        return bool(task.call_on_fit_task_end(**self._data, reconstruction_attributes=attributes))
