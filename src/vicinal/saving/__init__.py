"""Models in files that are small, hold no code and are checked before they are read."""

from vicinal.saving.header import ModelFileError, ModelHeader
from vicinal.saving.models import describe, load, save
from vicinal.saving.onnx import export_onnx

__all__ = ["ModelFileError", "ModelHeader", "describe", "export_onnx", "load", "save"]
