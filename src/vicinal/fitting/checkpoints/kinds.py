"""Classes that make up where a fit stands."""

from vicinal.fitting.ascent import BoldState
from vicinal.fitting.descent import Evaluation, ScipyState
from vicinal.fitting.draws import DrawState
from vicinal.fitting.em import EMState, SquaremState
from vicinal.fitting.ending import Ending, Reason
from vicinal.fitting.outcome import FitState
from vicinal.fitting.solver import ExactState, State
from vicinal.fitting.stochastic import AdamMoments, AdamState, AscentState
from vicinal.fitting.update import Update

__all__ = ["OF_A_FIT"]

OF_A_FIT: tuple[type, ...] = (
    *(FitState, Update, DrawState, Ending, Reason),
    *(State, ExactState, EMState, SquaremState, BoldState),
    *(ScipyState, Evaluation, AscentState, AdamState, AdamMoments),
)
