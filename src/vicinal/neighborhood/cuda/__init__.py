"""The engine for a GPU: what is computed (`kernels`), on what (`layout`), and how (`engine`).

Importing this package imports torch and Triton: whoever is not sure of them asks `gpu.py`.
"""

from vicinal.neighborhood.cuda.engine import PRECISIONS, CudaEngine

__all__ = ["PRECISIONS", "CudaEngine"]
