"""Stationary kernels against scikit-learn, scipy and mpmath, and the checks of user functions."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.interpolate import RBFInterpolator
from scipy.spatial.distance import cdist
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KernelDensity

from krein.kernels import (
    Cauchy,
    DeltaGaussian,
    Epanechnikov,
    FromProfile,
    Gaussian,
    InverseMultiquadric,
    Laplacian,
    Log,
    Matern,
    RadialKernel,
    RationalQuadratic,
    ThinPlate,
)
from krein.kernels.matern import LARGE_NU, _bessel, _debye

X = np.random.default_rng(12345).standard_normal((30, 4))
Y = np.random.default_rng(6789).standard_normal((20, 4))


@pytest.mark.parametrize(
    ("kernel", "oracle"),
    [
        (Gaussian(1.3), lambda x, y: rbf_kernel(x, y, gamma=1 / (2 * 1.3**2))),
        (
            DeltaGaussian((2.0, -1.5), (0.7, 3.0)),
            lambda x, y: 2 * rbf_kernel(x, y, gamma=0.5 / 0.7**2) - 1.5 * rbf_kernel(x, y, gamma=0.5 / 9),
        ),
        (Laplacian(1.3), gp.Matern(1.3, nu=0.5)),
        (Matern(1.3, 0.5), gp.Matern(1.3, nu=0.5)),
        (Matern(1.3, 1.5), gp.Matern(1.3, nu=1.5)),
        (Matern(1.3, 2.5), gp.Matern(1.3, nu=2.5)),
        (Matern(1.3, 0.7), gp.Matern(1.3, nu=0.7)),
        (Matern(1.3, 4.2), gp.Matern(1.3, nu=4.2)),
        (Matern(1.3, 25.0), gp.Matern(1.3, nu=25.0)),
        (RationalQuadratic(1.3, 0.8), gp.RationalQuadratic(1.3, alpha=0.8)),
        (Cauchy(1.3), gp.RationalQuadratic(1.3 / 2**0.5, alpha=1.0)),
        (InverseMultiquadric(1.3), gp.RationalQuadratic(1.3, alpha=0.5)),
    ],
    ids=lambda value: None if callable(value) and not isinstance(value, RadialKernel) else repr(value),
)
def test_gram_of_scikit_learn(kernel, oracle) -> None:
    np.testing.assert_allclose(kernel(X, Y), oracle(X, Y), rtol=1e-11, atol=1e-13)
    mutant = type(kernel)(**{**kernel.get_params(), **wrong_scale(kernel)})
    assert np.abs(mutant(X, Y) - oracle(X, Y)).max() > 1e-3


def wrong_scale(kernel) -> dict:
    """The scale 2 % off."""
    if isinstance(kernel, DeltaGaussian):
        return {"scales": tuple(1.02 * scale for scale in kernel.scales)}
    return {"scale": 1.02 * kernel.scale}


@pytest.mark.parametrize(
    ("kernel", "name", "epsilon"),
    [(ThinPlate(), "thin_plate_spline", 1.0), (InverseMultiquadric(0.8), "inverse_multiquadric", 1 / 0.8)],
    ids=repr,
)
def test_interpolation_of_scipy(kernel, name: str, epsilon: float) -> None:
    # the spline s(x) = sum_i c_i k(x - x_i) + b_0 + b.x through 30 points, with c orthogonal to the affine functions
    values = np.sin(X.sum(axis=1))
    P, Q = np.c_[np.ones(len(X)), X], np.c_[np.ones(len(Y)), Y]
    system = np.block([[kernel(X), P], [P.T, np.zeros((5, 5))]])
    ours = np.c_[kernel(Y, X), Q] @ np.linalg.solve(system, np.r_[values, np.zeros(5)])
    scipys = RBFInterpolator(X, values, kernel=name, epsilon=epsilon, degree=1)(Y)
    condition = np.linalg.cond(system)
    assert condition < 1e5
    np.testing.assert_allclose(ours, scipys, rtol=0, atol=condition * 1e-14)


def test_scale_of_thin_plate() -> None:
    z = np.linspace(0, 3, 31)
    np.testing.assert_allclose(ThinPlate(0.4).profile(z), ThinPlate().profile(z / 0.4), rtol=1e-15)
    assert ThinPlate(0.4).profile(0.4) == 0
    assert ThinPlate(0.4).profile(0.0) == 0


def test_epanechnikov_of_scikit_learn() -> None:
    z = np.linspace(0, 2, 41)[:, None]
    density = np.exp(KernelDensity(kernel="epanechnikov", bandwidth=1.3).fit([[0.0]]).score_samples(z))
    np.testing.assert_allclose(Epanechnikov(1.3).profile(z[:, 0]), density / density[0], rtol=0, atol=1e-14)


def test_log() -> None:
    z = [0.0, 1e-9, 0.3, 2.0, 1e6]
    exact = [float(-mpmath.log1p((mpmath.mpf(r) / mpmath.mpf(1.3)) ** 2)) for r in z]
    np.testing.assert_allclose(Log(1.3).profile(z), exact, rtol=1e-15)


@pytest.mark.parametrize(("kernel", "null_space"), [(Log(), 1), (ThinPlate(), 5)], ids=repr)
def test_conditionally_positive_definite(kernel, null_space: int) -> None:
    K = kernel(X)
    assert np.linalg.eigvalsh(K)[0] < -1
    basis = np.linalg.qr(np.c_[np.ones(len(X)), X][:, :null_space], mode="complete")[0][:, null_space:]
    assert np.linalg.eigvalsh(basis.T @ K @ basis)[0] > 1e-3


@pytest.mark.parametrize(("kernel", "definite"), [(Cauchy(), True), (Laplacian(), True), (Epanechnikov(), False)])
def test_definite_on_a_line(kernel, definite: bool) -> None:
    K = kernel(np.linspace(0, 4, 40)[:, None])
    assert (np.linalg.eigvalsh(K)[0] > -1e-13) == definite


def exact_matern(nu: float, z: float) -> float:
    with mpmath.workdps(60):
        s = mpmath.sqrt(2 * mpmath.mpf(nu)) * mpmath.mpf(z)
        return float(mpmath.mpf(2) ** (1 - mpmath.mpf(nu)) / mpmath.gamma(nu) * s**nu * mpmath.besselk(nu, s))


DISTANCES = np.r_[10.0 ** np.arange(-12, 1, 0.75), 2, 5, 10]


@pytest.mark.parametrize("nu", [1e-3, 0.1, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 7.3, 19.99, 20.0, 21.0, 60.0, 150.0])
def test_matern_of_mpmath(nu: float) -> None:
    exact = np.array([exact_matern(nu, z) for z in DISTANCES])
    np.testing.assert_allclose(Matern(2.0, nu).profile(2 * DISTANCES), exact, rtol=1e-12, atol=1e-14)
    assert Matern(2.0, nu).profile(0.0) == 1


def test_matern_branches_meet() -> None:
    for nu in (LARGE_NU, 25.0):
        s = np.sqrt(2 * nu) * DISTANCES
        np.testing.assert_allclose(_bessel(nu, s), _debye(nu, DISTANCES), rtol=1e-12, atol=1e-14)
    for nu in (0.5, 1.5, 2.5):
        s = np.sqrt(2 * nu) * DISTANCES
        np.testing.assert_allclose(_bessel(nu, s), Matern(1.0, nu).profile(DISTANCES), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("nu", [1e-8, 0.1, 0.5, 1.5, 1.6, 2.5, 12.0, 19.0, 20.0, 400.0, 1e6, 1e12])
def test_matern_never_overflows(nu: float) -> None:
    z = np.r_[0, 1e-300, 1e-150, 1e-30, 10.0 ** np.arange(-15, 5), 1e100, 1e150]
    values = Matern(1.0, nu).profile(z)  # warnings are errors
    assert values[0] == 1
    assert values[-1] == 0
    assert np.isfinite(values).all()
    assert (np.diff(values) <= 2e-14).all()
    assert (values <= 1 + 1e-14).all()


def test_matern_tends_to_gaussian() -> None:
    z = np.linspace(0, 5, 51)
    gaussian, square = Gaussian(1.3).profile(z), (z / 1.3) ** 2
    first_order = gaussian * (square**2 / 8 - square / 2)
    for nu in (1e3, 1e6, 1e9, 1e15):
        # the next term of the expansion in 1/nu is below 1/nu^2 there
        error = np.abs(Matern(1.3, nu).profile(z) - gaussian - first_order / nu).max()
        assert error < 1 / nu**2 + 1e-15


class TestFromProfile:
    def test_is_the_function(self) -> None:
        kernel = FromProfile(lambda z: np.exp(-(z**2) / 2))
        np.testing.assert_allclose(kernel(X, Y), Gaussian()(X, Y), rtol=1e-14)
        np.testing.assert_allclose(kernel(X), np.exp(-(cdist(X, X) ** 2) / 2), rtol=1e-12)

    def test_accepts_functions_of_one_dimensional_arrays(self) -> None:
        def boxed(z):
            values = np.zeros(len(z), dtype=int)
            values[z < 1] = 1
            return values

        K = FromProfile(boxed)(X)
        assert K.dtype == np.float64
        np.testing.assert_array_equal(K, cdist(X, X) < 1)
        assert FromProfile(boxed).profile(0.5).shape == ()

    def test_functions_may_work_in_place(self) -> None:
        def in_place(z):
            z *= -1
            return np.exp(z, out=z)

        z = np.linspace(0, 2, 5)
        np.testing.assert_array_equal(FromProfile(in_place).profile(z), np.exp(-z))
        np.testing.assert_array_equal(z, np.linspace(0, 2, 5))

    @pytest.mark.parametrize(
        ("function", "message"),
        [
            (lambda z: 1.0, r"array of shape \(30, 20\)|array of shape \(600,\), as its argument; got \(\)"),
            (lambda z: z[:-1], r"array of shape \(600,\), as its argument; got \(599,\)"),
            (lambda z: z[:, None], r"got \(600, 1\)"),
            (lambda z: z + 0j, "real numbers; got an array of dtype complex128"),
            (lambda z: z.astype(str), "real numbers; got an array of dtype <U32"),
            (lambda z: np.where(z > 2, np.nan, z), r"finite numbers; got nan at"),
            (lambda z: np.where(z > 2, np.inf, z), r"finite numbers; got inf at"),
        ],
    )
    def test_result_is_validated(self, function, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            FromProfile(function)(X, Y)

    def test_on_the_sphere_distances_end_at_two(self) -> None:
        kernel = FromProfile(lambda z: np.sqrt(4 - z**2), on="sphere")
        opposite = np.array([[0.6, 0.8], [-0.6, -0.8]])
        np.testing.assert_allclose(kernel(opposite), [[2, 0], [0, 2]], rtol=0, atol=1e-7)
        assert kernel.profile(2 + 1e-12) == 0
        assert kernel.domain == "sphere"
