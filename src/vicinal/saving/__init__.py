"""Save models to small files that hold no code and are checked before they are loaded."""

from vicinal.saving.header import ModelFileError, ModelHeader
from vicinal.saving.onnx import export_onnx
from vicinal.saving.save_and_load import describe, load, save

__all__ = ["ModelFileError", "ModelHeader", "describe", "export_onnx", "load", "save"]
