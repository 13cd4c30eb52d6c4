"""The engine for a GPU, in Triton: what is computed (`kernels`), on what (`layout`), how (`engine`).

Importing this package imports torch and Triton; nothing else in vicinal does but `vicinal.torch`.
"""

from vicinal.neighborhood.cuda.engine import MOST_DIMS, PRECISIONS, CudaEngine

__all__ = ["MOST_DIMS", "PRECISIONS", "CudaEngine"]
