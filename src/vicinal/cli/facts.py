"""What a fitted model knows about itself."""

from collections.abc import Mapping
from typing import Any

from vicinal.cli.screens import number
from vicinal.cli.wording import counted

__all__ = ["features_told", "fitted_facts", "told"]

# Attributes that are facts, and what people call them.
_FACTS = {
    "objective_": "Objective",
    "loo_log_likelihood_": "Log-likelihood (LOO)",
    "log_likelihood_": "Log-likelihood",
    "validation_score_": "Validation score",
    "is_global_optimum_": "Global optimum",
    "n_pairs_": "Pairs",
    "n_gaussian_": "Gaussian directions",
    "background_": "Background",
    "smoothing_": "Smoothing",
    "n_neighbors_": "Neighbors",
    "n_iter_": "Updates",
    "converged_": "Converged",
    "solver_": "Solver",
    "engine_": "Engine",
    "engine_reason_": "Why this engine",
}


def fitted_facts(estimator: Any) -> dict[str, Any]:
    """Facts by the names of attributes, without the underscore at the end.

    Parameters
    ----------
    estimator : estimator
        Fitted.

    Returns
    -------
    dict
    """
    facts: dict[str, Any] = {}
    components = getattr(estimator, "components_", None)
    if components is not None:
        facts["n_components"] = components.shape[-2]
    facts |= {
        name.rstrip("_"): _scalar(getattr(estimator, name))
        for name in _FACTS
        if getattr(estimator, name, None) is not None
    }
    return facts


def _scalar(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def told(facts: Mapping[str, Any]) -> dict[str, str]:
    """The same facts in words."""
    words = {name.rstrip("_"): told for name, told in _FACTS.items()}
    words["n_components"] = "Components"
    return {words[name]: _in_words(value) for name, value in facts.items() if name in words}


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return ", ".join(_in_words(item) for item in value)
    return str(value)


def features_told(n_features: int, columns: list[str]) -> str:
    """How many numbers, and from which columns."""
    told = counted(columns)
    return told if n_features == len(columns) else f"{n_features}, from {told}"
