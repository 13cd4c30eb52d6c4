"""How much a run of the tests tries: enough for a newcomer, more in `.ci/run`, most on demand.

The environment variable HYPOTHESIS_PROFILE says which: "default", "ci" or "thorough". Numbers in
the tests are those of "ci".
"""

import os

from hypothesis import HealthCheck, settings

__all__ = ["examples", "load_profile", "scaled"]

EXAMPLES = 40
SHARES = {"default": 0.5, "ci": 1.0, "thorough": 25.0}
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "default")
if PROFILE not in SHARES:
    raise ValueError(f"HYPOTHESIS_PROFILE={PROFILE!r} is unknown: use one of {', '.join(SHARES)}")


def scaled(n: int, least: int = 5) -> int:
    """How many of n random cases are tried in this run: some in every one."""
    return max(min(n, least), round(n * SHARES[PROFILE]))


def examples(n: int) -> settings:
    """Decorator of a hypothesis test for which the usual number of examples is too large or small.

    Parameters
    ----------
    n : int
        How many there are in `.ci/run`.
    """
    return settings(max_examples=scaled(n))


def load_profile() -> None:
    """Tell hypothesis what this run is; compiling makes some examples slow, which is no error."""
    settings.register_profile(
        PROFILE,
        max_examples=scaled(EXAMPLES),
        derandomize=PROFILE == "ci",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
    )
    settings.load_profile(PROFILE)
