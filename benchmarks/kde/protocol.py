"""How density queries are compared, in words."""

import argparse

from benchmarks.kde.contenders import FFT_LEAST_ERROR, FFT_MOST
from benchmarks.kde.measuring import START_SECONDS
from benchmarks.kde.problems import BANDWIDTHS, N_COMPONENTS
from benchmarks.kde.process import BRIEF, N_CHECKED
from benchmarks.kde.ratios import EXACT

PROTOCOL = """
Seconds to make ready and to answer {n_queries:,} density queries, Gaussian kernels of one
bandwidth, float64; in parentheses the largest relative error of the density, measured on
{n_checked} of the queries against the definition in float64. **✗**: the error is above the wanted
one, or, where exact is wanted, above {exact:g}; then the median is given, too. **~**: estimated,
see below. **–**: does not apply.

Data: {n_components} Gaussians with different weights, sizes and shapes, each coordinate of
variance 1; the queries are from the same distribution. Bandwidths: Scott's rule, n^(-1/(d+4)),
times {bandwidths}. In parentheses how many neighbors count, (Σ w)² / Σ w²,
the median of {n_checked} queries.

"Best peer / vicinal": seconds of the fastest peer that was asked for the wanted error, or for less,
and had it when measured, by ours, which was asked for just that. Above 1 ours is faster. A ratio
with ~ has an estimate in it.

Every measurement is a process of its own, in which small problems are solved first: numba's
compiler and the loading of libraries do not count, nor does passing the data. What takes less than
{brief:g} s is timed three times, and the shortest counts. Peers first answer a hundredth of the
queries, then a tenth, then all, as long as the next step is expected to take no more than
{limit:g} s; where it is, seconds are extrapolated in a straight line from one query and the last
step (~), which is rough, and the error may be that of fewer queries, too. Peers are killed after
{killed:g} s in all.

Threads: "vicinal" has {threads}, "vicinal, 1 thread" has one (OMP_NUM_THREADS=1). The peers have
the same environment as "vicinal", but use one thread as far as measured; see the last table.

- vicinal: `log_density(Q, X, covariance=bandwidth**2, tolerance=wanted)`, engine chosen by itself.
- scikit-learn: `KernelDensity(algorithm="kd_tree", rtol=wanted, atol=0)`, other settings default.
- SciPy: `gaussian_kde` with its covariance replaced by a round one; `evaluate`, which is faster
  than `logpdf`. Always exact.
- KDEpy TreeKDE: has no relative error. Kernels are cut off (`eps`) where all n of them together
  would be the wanted error of one at its center, at most at 8 bandwidths, as far as it goes. The
  2.2e-16 that KDEpy adds to every density is subtracted.
- KDEpy FFTKDE: up to d = 3 and down to {fft_error:g}, because it cuts its kernels off at 1e-4 (its
  value in one dimension). A grid over points and queries with steps of √wanted bandwidths, but at
  most {fft_most} points along each axis for d = {fft_d}; linear interpolation (SciPy's
  RegularGridInterpolator) to the queries.
- mlpack: `kde(kernel="gaussian", tree="kd-tree", rel_error=wanted, abs_error=0)`, with
  algorithm="dual-tree" and "single-tree". It reorders the arrays it is given: the copies made for
  it count as part of its time.
"""


def protocol(options: argparse.Namespace) -> str:
    return PROTOCOL.strip().format(
        n_queries=options.queries,
        n_checked=N_CHECKED,
        exact=EXACT,
        n_components=N_COMPONENTS,
        bandwidths=", ".join(f"{factor:g} ({name})" for name, factor in BANDWIDTHS.items()),
        brief=BRIEF,
        limit=options.limit,
        killed=START_SECONDS + 2 * options.limit,
        threads=options.threads,
        fft_error=FFT_LEAST_ERROR,
        fft_most=", ".join(map(str, FFT_MOST.values())),
        fft_d=", ".join(map(str, FFT_MOST)),
    )
