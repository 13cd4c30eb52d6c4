"""The engine for GPUs beside a loop over tiles in torch: `python -m benchmarks.gpu`."""
