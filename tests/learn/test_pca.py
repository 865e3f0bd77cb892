"""KreinPCA against the dense centred kernel matrix and scikit-learn's KernelPCA."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA

from krein import make_features
from krein.kernels import Gaussian
from krein.learn import KreinPCA


def centred(problem: Any) -> Any:
    H = np.eye(len(problem.X)) - 1 / len(problem.X)
    return H @ problem.gram("krein")[0] @ H


@pytest.mark.parametrize("columns", [48, 400])
def test_equals_the_dense_eigenpairs(make: Any, columns: int) -> None:
    problem = make(300, columns)
    K = centred(problem)
    eigenvalues = np.linalg.eigvalsh(K)
    eigenvalues = eigenvalues[np.argsort(-np.abs(eigenvalues))][:10]
    pca = KreinPCA(problem.features, 10).fit(problem.X)
    np.testing.assert_allclose(pca.eigenvalues_, eigenvalues, rtol=1e-8)
    assert set(pca.signature_) == {-1.0, 1.0}
    scores = pca.transform(problem.X)
    np.testing.assert_allclose(scores.T @ scores, np.diag(np.abs(eigenvalues)), atol=1e-8)
    np.testing.assert_allclose(K @ scores, scores * eigenvalues, atol=1e-7)  # columns of norm sqrt|lambda| < 10
    assert pca.get_feature_names_out().tolist()[:1] == ["kreinpca0"]


def test_all_components_give_back_the_kernel_and_the_features(problem: Any) -> None:
    pca = KreinPCA(problem.features).fit(problem.X)
    scores = pca.transform(problem.X)
    np.testing.assert_allclose((scores * pca.signature_) @ scores.T, centred(problem), atol=1e-8)
    np.testing.assert_allclose(pca.inverse_transform(scores), problem.Z, atol=1e-8)
    J = pca.feature_map_.signature_
    np.testing.assert_allclose((pca.components_ * J) @ pca.components_.T, np.diag(pca.signature_), atol=1e-6)


def test_inertia(problem: Any) -> None:
    eigenvalues = np.linalg.eigvalsh(centred(problem))
    pca = KreinPCA(problem.features, 3).fit(problem.X)
    assert pca.positive_inertia_ == pytest.approx(eigenvalues[eigenvalues > 0].sum(), rel=1e-8)
    assert pca.negative_inertia_ == pytest.approx(-eigenvalues[eigenvalues < 0].sum(), rel=1e-8)
    assert pca.explained_inertia_ratio_.sum() < 1
    full = KreinPCA(problem.features).fit(problem.X).explained_inertia_ratio_
    assert full.sum() == pytest.approx(1)
    assert (np.diff(full) <= 0).all()


def test_equals_kernel_pca_where_positive_definite(problem: Any) -> None:
    pca = KreinPCA(make_features("orf", Gaussian(), 40, 0), 5).fit(problem.X)
    K = pca.feature_map_.approximate_kernel(problem.X)
    reference = KernelPCA(5, kernel="precomputed").fit(K)
    new = reference.transform(pca.feature_map_.approximate_kernel(problem.new, problem.X))
    np.testing.assert_allclose(np.abs(pca.transform(problem.new)), np.abs(new), atol=1e-8)


def test_wrong_arguments(problem: Any) -> None:
    with pytest.raises(ValueError, match="n_components must be an integer >= 1"):
        KreinPCA(problem.features, 0).fit(problem.X)
    with pytest.raises(ValueError, match="scores must have 2 columns, one per component; got 3"):
        KreinPCA(problem.features, 2).fit(problem.X).inverse_transform(np.zeros((1, 3)))
