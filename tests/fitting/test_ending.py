import warnings

import numpy as np
import pytest
from fitting.climbing import Climb
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting import Ending, Reason, run

CONVERGENCE = {
    Reason.OBJECTIVE_STILL,
    Reason.PARAMETERS_STILL,
    Reason.GRADIENT_GONE,
    Reason.PATIENCE_LOST,
    Reason.SCHEDULE_DONE,
    Reason.SOLVER_DONE,
}


@pytest.mark.parametrize("reason", Reason)
def test_an_ending_knows_whether_it_is_convergence_and_whether_to_warn(reason):
    """Callers who ask to stop know that they did."""
    assert reason.is_convergence == (reason in CONVERGENCE)
    assert reason.is_a_surprise == (reason not in CONVERGENCE | {Reason.CALLBACK})


@pytest.mark.parametrize("reason", [Reason.SOLVER_DONE, Reason.SOLVER_FAILED])
def test_the_end_of_a_solver_is_that_of_the_fit(reason):
    ending = Ending(reason, "at the edge of the world")

    class Ends(Climb):
        def step(self, state):
            return ending

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = run(Ends([1.0]), np.zeros(1), max_iter=9, tol=0.0)
    assert outcome.ending is ending
    assert outcome.converged == (reason is Reason.SOLVER_DONE)
    expected = [ConvergenceWarning] if reason is Reason.SOLVER_FAILED else []
    assert [warning.category for warning in caught] == expected
    assert all("0 updates: at the edge of the world." in str(w.message) for w in caught)
