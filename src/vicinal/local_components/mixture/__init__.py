"""Mixtures of local components: densities whose kernels are not the same everywhere."""
