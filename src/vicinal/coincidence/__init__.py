"""Latent coincidence analysis: a metric, and the probability that two points belong together."""

from vicinal.coincidence.classifier import CoincidenceClassifier
from vicinal.coincidence.estimator import LatentCoincidence

__all__ = ["CoincidenceClassifier", "LatentCoincidence"]
