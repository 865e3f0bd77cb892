"""Double infinite Gaussian mixture features (DIGMM; Liu, Huang, Shi, Yang & Suykens 2020), made consistent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from krein._random import RandomState, Streams
from krein._validation import Rows, check_choice, check_integer, check_positive
from krein.features.baselines._cosines import CosineFeatures, draw_phases
from krein.features.baselines._digmm_fit import FrequencyFit, RowSource, Sample
from krein.features.baselines._dirichlet_mixture import sample_mixture
from krein.kernels import Gaussian, Kernel
from krein.sampling import Frequencies

Array = NDArray[np.float64]

NOISE = {"latent": 0.01, "mixture": 0.04}  # a mixture fits better to frequencies that have kept closer to it
SPLITS = ("difference", "shift")
SMALLEST_MASS = 1e-3  # of a second part, as a share of max |k|
SHIFT_FACTOR, SHIFT_ROWS = 20.0, 5


class Problem(NamedTuple):
    """Parts that are fitted together: the sum of c_p k_hat_p is to be ``target`` times the kernel."""

    amplitudes: tuple[float, ...]
    target: float = 1.0


class DoubleGaussianMixtureFeatures(CosineFeatures):
    """Features learned from kernel values: k = k_1 - k_2, each with its Dirichlet-process mixture of Gaussians.

    The frequencies are fitted to the kernel *on the rows that ``fit`` gets*, so the error is to be measured on others.

    Parameters
    ----------
    kernel : RadialKernel, default=Gaussian()
        What to approximate; it may be indefinite.
    n_components : int, default=100
        Largest number of output columns; they are shared equally between the two signs of an indefinite kernel.
    draw : {"latent", "mixture"}, default="latent"
        "latent" uses the fitted frequencies themselves, "mixture" fresh ones from the mixture fitted to them.
    form : {"pair", "phase"}, default="pair"
        "phase" (the authors' form) gives a frequency one column with a random phase, "pair" a cosine and a sine. Where
        there is less than a pair per sign, it is "phase".
    split : {"difference", "shift"}, default="difference"
        "difference" fits both parts together to k. "shift" (the authors') fits k_1 = k + tau delta and k_2 = tau delta
        on their own, with tau = 20 |smallest eigenvalue of the Gram matrix of five rows|: the error on indefinite
        kernels is then larger than that of zero.
    negative_mass : float or None, default=None
        c_2 = k_2(0) for "difference". None is max |k| - k(0) on the sampled rows, and at least a thousandth of max |k|.
    n_mixture : int, default=5
        Components at which the mixtures are truncated.
    concentration : float, default=1.0
        Concentration of the Dirichlet process: large values give many components.
    rounds : int, default=6
        Alternations between mixtures and frequencies.
    n_rows : int, default=200
        Rows drawn in a round; the kernel values between all of them are fitted.
    random_state : int, Generator, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads of ``transform``; -1 is all cores, None one unless joblib's ``parallel_config`` says otherwise.
    output : {"real", "complex"}, default="real"
        "complex" multiplies the columns of negative sign by 1j, so that K_hat = Z Z^T without conjugation.

    Attributes
    ----------
    frequencies_ : Frequencies
        Weights, coefficients and phases: the approximation itself.
    signature_ : ndarray of shape (n_columns,)
        +1 for k_1, -1 for k_2. A kernel whose Gram matrix on the sampled rows is positive semi-definite has no k_2.
    n_features_in_ : int

    Notes
    -----
    Biased for every width: the frequencies are a fit, and a draw from the mixture smooths it. The kernel is fitted only
    at the distances that the rows have. The default mass of k_2 is the least, and not always the best: for
    Tanh(2, -0.5) on letter, 256 columns, the error is 0.33 with it and 0.21 with ``negative_mass=10``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import normalize
    >>> from krein import relative_error
    >>> from krein.features.baselines import DoubleGaussianMixtureFeatures
    >>> from krein.kernels import PolynomialOnSphere
    >>> X = normalize(np.random.default_rng(0).normal(size=(400, 16)))
    >>> kernel = PolynomialOnSphere(a=3.0, degree=1)
    >>> features = DoubleGaussianMixtureFeatures(kernel, n_components=128, random_state=0).fit(X[:300])
    >>> bool(relative_error(kernel, features, X[300:]) < 0.01)
    True
    """

    def __init__(
        self,
        kernel: Kernel = Gaussian(),  # noqa: B008  (immutable)
        n_components: int = 100,
        *,
        draw: str = "latent",
        form: str = "pair",
        split: str = "difference",
        negative_mass: float | None = None,
        n_mixture: int = 5,
        concentration: float = 1.0,
        rounds: int = 6,
        n_rows: int = 200,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        output: str = "real",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.draw = draw
        self.form = form
        self.split = split
        self.negative_mass = negative_mass
        self.n_mixture = n_mixture
        self.concentration = concentration
        self.rounds = rounds
        self.n_rows = n_rows
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.output = output

    def _fit(self, X: Rows) -> None:
        kernel = self._check_radial()
        self._check_parameters()
        streams = Streams(self.random_state)
        source = RowSource(kernel, X, self.n_rows, streams("rows"))
        problems = self._problems(source, float(kernel.profile(0.0)) / source.scale)
        count, phased = self._frequencies_per_part(sum(len(problem.amplitudes) for problem in problems))
        rng = streams("frequencies")
        weights = np.concatenate([self._learn(problem, source, count, rng) for problem in problems])
        masses = source.scale * np.concatenate([problem.amplitudes for problem in problems])
        if len(problems) == 2:
            masses[1] *= -1  # the second problem is k_2 itself
        phases = draw_phases(count * len(masses), streams("phases")) if phased else None
        self.frequencies_ = Frequencies(
            weights.reshape(-1, X.shape[1]), np.repeat(masses / count, count), phases=phases, rotated=False
        )
        self.signature_ = self.frequencies_.signature

    def _learn(self, problem: Problem, source: RowSource, count: int, rng: np.random.Generator) -> Array:
        """Frequencies of the parts of a problem, shape (parts, count, dim)."""
        fit = FrequencyFit(problem.amplitudes, self.n_mixture, self.concentration, self.rounds, NOISE[self.draw])

        def scaled(sample: Sample) -> Sample:
            return Sample(sample.rows, problem.target * sample.gram)

        n_latent = count if self.draw == "latent" else max(count, 2 * source.first.rows.shape[1])
        start = fit.start(scaled(source.first), n_latent, rng)
        weights = fit.run(start, lambda: scaled(source.draw()), rng)
        if self.draw == "mixture":
            weights = np.array([sample_mixture(mixture, count, rng) for mixture in fit.mixtures(weights, rng)])
        return weights / source.unit

    def _check_parameters(self) -> None:
        check_choice(self.draw, "draw", NOISE)
        check_choice(self.split, "split", SPLITS)
        check_integer(self.n_mixture, "n_mixture", 1)
        check_integer(self.rounds, "rounds", 1)
        check_integer(self.n_rows, "n_rows", 2)
        check_positive(self.concentration, "concentration")
        if self.negative_mass is not None:
            check_positive(self.negative_mass, "negative_mass")

    def _problems(self, source: RowSource, origin: float) -> list[Problem]:
        """Parts with masses c_1 - c_2 = k(0), in units of max |k|."""
        eigenvalues = np.linalg.eigvalsh(source.first.gram)
        if origin > 0 and eigenvalues[0] >= -1e-8 * eigenvalues[-1]:
            return [Problem((origin,))]
        if self.split == "shift":
            few = np.linalg.eigvalsh(source.first.gram[:SHIFT_ROWS, :SHIFT_ROWS])
            tau = max(SMALLEST_MASS, SHIFT_FACTOR * abs(float(few[0])))
            return [Problem((origin + tau,)), Problem((tau,), target=0.0)]
        mass = max(SMALLEST_MASS, 1 - origin) if self.negative_mass is None else self.negative_mass / source.scale
        if origin + mass <= 0:
            raise ValueError(
                f"negative_mass must be larger than -k(0) = {-origin * source.scale:g}; got {self.negative_mass!r}."
            )
        return [Problem((origin + mass, -mass))]
