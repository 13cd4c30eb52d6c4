"""Loops over an explicit list of pairs: squared distances, and what pulls at every point."""

from vicinal.compiling.decorators import kernel


@kernel()
def squares(Z, first, second, start, stop, out):
    """Squared distances of pairs start..stop to out (n_pairs,), for points Z (n, d)."""
    for pair in range(start, stop):
        a, b = Z[first[pair]], Z[second[pair]]
        total = 0.0
        for k in range(a.size):
            apart = a[k] - b[k]
            total += apart * apart
        out[pair] = total


@kernel()
def pulls(Z, first, second, coefficients, start, stop, out):
    """Add c (z_i - z_j) of pairs start..stop to row i of out (n, d), and take it from row j."""
    for pair in range(start, stop):
        i, j, c = first[pair], second[pair], coefficients[pair]
        a, b, at_i, at_j = Z[i], Z[j], out[i], out[j]
        for k in range(a.size):
            pull = c * (a[k] - b[k])
            at_i[k] += pull
            at_j[k] -= pull
