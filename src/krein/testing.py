"""Statistical assertions about feature maps: estimate minus exact value, over its own standard error.

A random map is unbiased if E k_hat(x, y) = k(x, y) over its draws. The tests here hold for *every* seed: they ask for
|z| < 5 at distances that span the range of the kernel, and a wrong law fails them however the seed is chosen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from krein._random import RandomState, Streams
from krein._validation import Domain, check_integer, check_positive
from krein.features import FeatureMap
from krein.kernels import RadialKernel
from krein.sampling import Frequencies

__all__ = ["assert_unbiased", "rows_at_distances", "spanning_lags", "z_scores"]

Array = NDArray[np.float64]

ROUNDING = 1e-10  # differences below this share of the largest value count as none, even where nothing is random


def assert_unbiased(
    draw: Callable[[int], FeatureMap | Frequencies],
    kernel: RadialKernel,
    dim: int,
    *,
    lags: ArrayLike | None = None,
    n_draws: int = 200,
    random_state: RandomState,
    threshold: float = 5.0,
) -> None:
    """Assert that the mean of k_hat over independent draws is the kernel, at pairs of rows of given distances.

    Parameters
    ----------
    draw : callable
        ``draw(seed)`` returns a fitted feature map, or ``Frequencies``; its randomness must come from ``seed`` alone.
    kernel : RadialKernel
        The exact kernel.
    dim : int
        Dimension of the rows.
    lags : array-like, default=None
        Distances; ``None`` means 20 that span the range of the kernel.
    n_draws : int, default=200
        At least 100: below that, t-distributed z-scores exceed 5 too often.
    random_state : int, Generator, RandomState or None
        Chooses the pairs, which are the same for all draws, and the seeds of the draws.
    threshold : float, default=5
        Largest z-score that passes.

    Raises
    ------
    AssertionError
        With the worst distance, if a z-score is not below the threshold.

    Notes
    -----
    Only ``approximate_kernel`` of a map is used, so that maps that are not cosines can be tested too. With 20
    distances, a right map fails for about one seed in 10^5. What is rejected depends on the number of features over
    all draws: 2 * 10^5 independent frequencies reject a scale that is 2 % off.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import RandomFeatures
    >>> from krein.kernels import Gaussian
    >>> from krein.testing import assert_unbiased
    >>> X = np.zeros((1, 3))  # a cosine map needs the number of columns only
    >>> def draw(seed, scale=1.0):
    ...     return RandomFeatures(Gaussian(scale), 400, scheme="orf", random_state=seed).fit(X)
    >>> assert_unbiased(draw, Gaussian(), dim=3, random_state=0)
    >>> assert_unbiased(lambda seed: draw(seed, scale=1.1), Gaussian(), dim=3, random_state=0)
    Traceback (most recent call last):
        ...
    AssertionError: biased: at distance ... the mean of 200 draws is ...
    """
    check_integer(n_draws, "n_draws", 100)
    check_positive(threshold, "threshold")
    z = spanning_lags(kernel) if lags is None else np.asarray(lags, float).ravel()
    streams = Streams(random_state)
    X, Y = rows_at_distances(z, dim, kernel.domain, streams("rows"))
    seeds = streams("draws").integers(2**32, size=n_draws)
    values = np.array([_values(draw(int(seed)), X, Y) for seed in seeds])
    exact = kernel.profile(z)
    scores = z_scores(values, exact)
    worst = int(np.argmax(np.abs(scores)))
    if not np.abs(scores).max() < threshold:
        raise AssertionError(
            f"biased: at distance {z[worst]:.4g} the mean of {n_draws} draws is {values[:, worst].mean():.6g}, "
            f"the kernel is {exact[worst]:.6g}: z = {scores[worst]:.1f}; |z| must be below {threshold:g} "
            f"(worst of {len(z)} distances)."
        )


def z_scores(samples: ArrayLike, exact: ArrayLike) -> Array:
    """Mean of independent draws minus its exact value, in units of the standard error of the mean.

    Parameters
    ----------
    samples : array-like of shape (n_draws, ...)
    exact : array-like
        What the mean over draws should be.

    Returns
    -------
    ndarray of the shape of one draw
        Where draws do not vary, differences are measured in units of rounding instead.

    Examples
    --------
    >>> import numpy as np
    >>> from krein.testing import z_scores
    >>> draws = np.random.default_rng(0).normal(size=(10_000, 3))
    >>> bool((np.abs(z_scores(draws, 0.0)) < 5).all()), bool((np.abs(z_scores(draws, 0.1)) < 5).any())
    (True, False)
    """
    samples, exact = np.asarray(samples, float), np.asarray(exact, float)
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    floor = ROUNDING * max(float(np.abs(samples).max()), float(np.abs(exact).max()), np.finfo(float).tiny)
    return np.asarray((samples.mean(axis=0) - exact) / np.maximum(error, floor))


def spanning_lags(kernel: RadialKernel, n_lags: int = 20) -> Array:
    """Distances that span the range of a kernel, each after an equal share of its total variation.

    Parameters
    ----------
    kernel : RadialKernel
    n_lags : int, default=20

    Examples
    --------
    >>> from krein.kernels import Gaussian
    >>> from krein.testing import spanning_lags
    >>> Gaussian().profile(spanning_lags(Gaussian(), 5)).round(4)
    array([0.9, 0.7, 0.5, 0.3, 0.1])
    """
    check_integer(n_lags, "n_lags", 1)
    grid = np.geomspace(1e-5, 2.0 if kernel.domain == "sphere" else 1e4, 4000)
    variation = np.cumsum(np.abs(np.diff(kernel.profile(grid), prepend=kernel.profile(0.0))))
    if not variation[-1] > 0:
        raise ValueError(f"kernel must vary with the distance; got {kernel!r}.")
    shares = (np.arange(n_lags) + 0.5) / n_lags * variation[-1]
    rising = np.concatenate([[True], np.diff(variation) > 0])
    return np.asarray(np.interp(shares, variation[rising], grid[rising]))


def rows_at_distances(z: ArrayLike, dim: int, domain: Domain, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows X and Y with ||x_i - y_i|| = z_i, in random directions; of norm 1 where the domain is the unit sphere.

    Parameters
    ----------
    z : array-like of shape (n,)
    dim : int
    domain : {"euclidean", "sphere"}
    rng : Generator

    Returns
    -------
    X, Y : ndarray of shape (n, dim)

    Examples
    --------
    >>> import numpy as np
    >>> from krein.testing import rows_at_distances
    >>> X, Y = rows_at_distances([0.5, 1.0], 3, "sphere", np.random.default_rng(0))
    >>> np.linalg.norm(X - Y, axis=1).round(6), np.linalg.norm(X, axis=1).round(6)
    (array([0.5, 1. ]), array([1., 1.]))
    """
    z = np.asarray(z, float)
    smallest, largest = (2, 2.0) if domain == "sphere" else (1, np.inf)
    check_integer(dim, "dim", smallest)
    if z.ndim != 1 or not ((z >= 0) & (z <= largest)).all():
        raise ValueError(f"Distances must be a list of numbers between 0 and {largest:g}; got {z}.")
    u = rng.standard_normal((len(z), dim))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    centre = rng.standard_normal((len(z), dim))
    half = z[:, None] / 2
    if domain == "sphere":  # the middle of the chord is orthogonal to it
        centre -= np.sum(centre * u, axis=1, keepdims=True) * u
        centre *= np.sqrt(1 - half**2) / np.linalg.norm(centre, axis=1, keepdims=True)
    else:
        centre /= np.sqrt(dim)
    return centre + half * u, centre - half * u


def _values(drawn: FeatureMap | Frequencies, X: Array, Y: Array) -> Array:
    """k_hat(x_i, y_i) for every pair."""
    if isinstance(drawn, Frequencies) and drawn.phases is None:
        return drawn.evaluate(X - Y)
    if isinstance(drawn, Frequencies):
        x, y = (np.cos(drawn.project(rows) + drawn.phases) for rows in (X, Y))
        return np.asarray(drawn.constant + 2 * (x * y) @ drawn.coefficients)
    return np.asarray(np.diagonal(drawn.approximate_kernel(X, Y)), dtype=np.float64)
