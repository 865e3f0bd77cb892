"""Truncated Dirichlet-process mixtures of Gaussians over frequencies: scikit-learn's updates, own sampling."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

Array = NDArray[np.float64]


def dirichlet_mixture(weights: Array, n_mixture: int, concentration: float, rng: np.random.Generator) -> Any:
    """Variational posterior of the mixture given frequencies of shape (count, dim), with diagonal covariances.

    scikit-learn divides ``covariance_prior`` by the degrees of freedom (dim + members of the component): only dim times
    the variance of the frequencies does not shrink the components.
    """
    from sklearn.mixture import BayesianGaussianMixture

    if len(weights) == 1:  # a mixture needs two points; cos(w.z) = cos(-w.z)
        weights = np.concatenate([weights, -weights])
    dim = weights.shape[1]
    mixture = BayesianGaussianMixture(
        n_components=min(n_mixture, len(weights)),
        covariance_type="diag",
        weight_concentration_prior_type="dirichlet_process",
        weight_concentration_prior=concentration,
        mean_prior=np.zeros(dim),
        mean_precision_prior=1.0,
        degrees_of_freedom_prior=float(dim),
        covariance_prior=dim * weights.var(axis=0),
        reg_covar=1e-4 * float(np.mean(weights**2)),
        init_params="k-means++",
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a later round begins where this one ends
        return mixture.fit(weights)


def precisions(mixture: Any, weights: Array) -> Array:
    """Diagonal of the precision of the component that every frequency most probably belongs to, shape (count, dim)."""
    return np.asarray(mixture.precisions_[mixture.predict(weights)])


def sample_mixture(mixture: Any, count: int, rng: np.random.Generator) -> Array:
    """Independent frequencies from the mixture (``mixture.sample`` would begin from its own seed at every call)."""
    component = rng.choice(len(mixture.weights_), count, p=mixture.weights_ / mixture.weights_.sum())
    noise = rng.standard_normal((count, mixture.means_.shape[1]))
    return np.asarray(mixture.means_[component] + noise * np.sqrt(mixture.covariances_[component]))
