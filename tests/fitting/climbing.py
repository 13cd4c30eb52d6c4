"""A solver that does as it is told."""

from vicinal.fitting import Ending, Reason, State, StepwiseSolver


class Climb(StepwiseSolver):
    """Reaches these objectives, parameters counting along; an exception among them is raised."""

    def __init__(self, objectives):
        self.objectives = iter(objectives)

    def start(self, parameters):
        objective = next(self.objectives, None)
        if objective is None:
            return Ending(Reason.SOLVER_DONE, "nothing more to gain")
        if isinstance(objective, type):
            raise objective
        return State(parameters, objective)

    def step(self, state):
        return self.start(state.parameters + 1)
