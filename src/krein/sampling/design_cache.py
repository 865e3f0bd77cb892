"""Designs by request, each searched once per process: a grid search or a refit must not search again.

A request holds everything that a design depends on. ``memory`` (a folder, or a ``joblib.Memory``) keeps designs across
processes too.
"""

from __future__ import annotations

import hashlib
from copy import copy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.utils.validation import check_memory

from krein.kernels.base import RadialKernel
from krein.sampling.design import Design
from krein.sampling.design_search import DesignProblem
from krein.sampling.distance_weight import DistanceWeight

DESIGNS, PROBLEMS = 256, 8  # kept; a problem keeps the measures that designs of all its widths start from
VERSION = 1  # of the search: designs that a memory keeps from another version are not found


@dataclass(frozen=True)
class _Problem:
    """What a problem depends on; equal where the weights on distances are equal in every bit."""

    kernel: RadialKernel
    dim: int
    max_bias: float | None
    digest: bytes
    weight: DistanceWeight = field(compare=False)


def find_design(
    kernel: RadialKernel,
    dim: int,
    weight: DistanceWeight,
    n_columns: int,
    max_bias: float | None = None,
    memory: Any = None,
) -> Design:
    """The optimal design of at most ``n_columns`` real columns, from the cache where it was found before.

    Parameters
    ----------
    kernel : RadialKernel
    dim : int
    weight : DistanceWeight
    n_columns : int
    max_bias : float or None
        Largest bias to aim at, times max|k|.
    memory : str, joblib.Memory or None
        Where designs are kept on disk. A kernel that cannot be pickled cannot be kept there.

    Returns
    -------
    Design
    """
    if memory is None:
        return _kept_design(_request(kernel, dim, weight, max_bias), n_columns)
    search = check_memory(memory).cache(_search)
    return Design.from_arrays(search(kernel, dim, max_bias, weight.z, weight.rho, weight.reach, n_columns, VERSION))


def _request(kernel: RadialKernel, dim: int, weight: DistanceWeight, max_bias: float | None) -> _Problem:
    arrays = np.concatenate([weight.z, weight.rho, [weight.reach]])
    digest = hashlib.blake2b(arrays.tobytes(), digest_size=16).digest()
    return _Problem(copy(kernel), dim, max_bias, digest, weight)  # set_params may change the kernel that was given


@lru_cache(DESIGNS)
def _kept_design(request: _Problem, n_columns: int) -> Design:
    return _kept_problem(request).design(n_columns)


@lru_cache(PROBLEMS)
def _kept_problem(request: _Problem) -> DesignProblem:
    return DesignProblem(request.kernel, request.dim, request.weight, request.max_bias)


def _search(
    kernel: RadialKernel, dim: int, max_bias: float | None, z: Any, rho: Any, reach: float, n_columns: int, version: int
) -> Any:
    design = find_design(kernel, dim, DistanceWeight(z, rho, reach), n_columns, max_bias)
    return design.to_arrays()
