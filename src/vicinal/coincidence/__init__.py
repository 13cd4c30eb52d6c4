"""Latent coincidence: the metric, and the probability, of belonging together."""

from vicinal.coincidence.classifier import CoincidenceClassifier
from vicinal.coincidence.estimator import LatentCoincidence

__all__ = ["CoincidenceClassifier", "LatentCoincidence"]
