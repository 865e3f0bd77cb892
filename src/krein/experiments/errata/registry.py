"""All errata by their number."""

from __future__ import annotations

from krein.experiments.errata.baselines import show_baselines
from krein.experiments.errata.definiteness import show_definiteness
from krein.experiments.errata.directions import show_joint_directions, show_sign_of_h, show_signs
from krein.experiments.errata.measure import show_infinite_mass, show_jacobian
from krein.experiments.errata.protocol import show_diagonal, show_inputs, show_positive_columns
from krein.experiments.errata.record import Erratum
from krein.experiments.errata.sketch import show_equal_columns

ERRATA: dict[int, Erratum] = {
    1: Erratum(
        "The law of the radius lacks the factor r^(d-1)",
        "Equation (5): ||p+|| is the integral of p+(||w||) dw over w > 0, and ||w_i|| is drawn from p+(||w||).",
        "In R^d the radius has the density r^(d-1) p(r) up to a constant. Without the factor the features converge to "
        "another kernel, nearly the same one for all a, which is close to k for a = 3. The polynomial rows of Table II "
        "were computed like this.",
        show_jacobian,
    ),
    2: Erratum(
        "The zero-extended polynomial kernel has infinite mass",
        "Section IV-A gives the spectrum of the polynomial kernel, extended by zero beyond z = 2, equation (18); the "
        "method needs its mass to be finite (Theorem 3).",
        "With the factor r^(d-1) the density grows like r^((d-3)/2): the mass is infinite unless a = 2 and "
        "m > (d-1)/2. This extension has no unbiased Fourier features of finite variance.",
        show_infinite_mass,
    ),
    3: Erratum(
        "Algorithm 1 does not draw orthogonal directions",
        "Algorithm 1 and equation (10): the directions are the columns of one orthogonal 2m x 2m matrix, "
        "m = max(s, d), cut to their first d entries and normalised.",
        "Columns that were cut are no longer orthogonal: two of them are nearly independent when m is large. The "
        "delta-Gaussian rows of Table II agree with separate orthonormal d x d blocks for each sign.",
        show_joint_directions,
    ),
    4: Erratum(
        "Orthogonality across the signs raises the variance",
        "Below Theorem 6: the term H is the variance that is saved by making the columns of the two matrices "
        "orthogonal to each other.",
        "H is added to the variance and is positive for the delta-Gaussian: the two sums are subtracted, so they "
        "should be positively correlated. The same directions for both signs lower the variance.",
        show_sign_of_h,
    ),
    5: Erratum(
        "Signs in the variance formulas",
        "Theorem 5 prints G = Var(orthogonal) - Var(iid) as (s-1)/s times E(Omega)^2 - E Omega(sqrt(R1^2 + R2^2) z); "
        "the proof of Theorem 6 prints E^2(a) - E(a^2) for a variance.",
        "Both have the opposite sign. What the paper concludes from them, that G is negative for small distances, is "
        "right.",
        show_signs,
    ),
    6: Erratum(
        "Inputs lie on the unit sphere, not in [0,1]^d",
        "Section IV-A: for all the data sets, all the inputs are normalised to [0,1]^d.",
        "The polynomial kernel needs rows of length 1, and its published errors need letter to be scaled to [-1,1] "
        "before that step. For the delta-Gaussian the inputs matter less.",
        show_inputs,
    ),
    7: Erratum(
        "The diagonal of the approximate kernel was replaced by the exact one",
        "Section IV-C: the error is ||K - K_hat|| / ||K||, in the Frobenius norm, on 1000 rows.",
        "The authors' code overwrites the diagonal of K_hat first. At 1000 rows this is of no consequence; krein does "
        "not do it.",
        show_diagonal,
    ),
    8: Erratum(
        "Classification and regression used the columns of the positive part only",
        "Section IV-D: the features of equation (7), imaginary for the negative part, are given to LIBLINEAR.",
        "The MATLAB interface of LIBLINEAR reads the real part of a complex matrix, so the negative part arrived as "
        "zeros. A linear learner wants both parts as real columns.",
        show_positive_columns,
    ),
    9: Erratum(
        "Equal s is not an equal number of columns",
        "Figures 2 and 3 compare all methods at equal s, and GORF has the lowest error.",
        "GORF has 4 s real columns there, the others s. At equal columns a count sketch, which is Tensor Sketch of "
        "degree 1, has the smaller error in most draws. A few bad draws make its mean larger up to 4d columns; it is "
        "level at 8d columns and smaller beyond.",
        show_equal_columns,
    ),
    10: Erratum(
        "The polynomial kernel of the experiments is positive definite",
        "Section IV-A: the polynomial kernel on the unit sphere, a = 3 and m = 1, is a typical indefinite kernel.",
        "It is 7/9 + 2/9 x.y: positive definite, and exact with d + 1 columns. (1 - z^2/a^2)^m is indefinite on the "
        "sphere if and only if a < sqrt 2. The delta-Gaussian has one negative eigenvalue there.",
        show_definiteness,
    ),
    11: Erratum(
        "The methods compared with are not what their papers describe",
        "Section IV-C: RM and TS are unbiased for polynomial kernels; SRF and DIGMM are biased.",
        "In the public code RM draws the degree from a wrong law and TS only knows degree 1; the SRF tables for the "
        "delta-Gaussian are an unfinished fit; the features of DIGMM do not depend on the kernel.",
        show_baselines,
    ),
}
