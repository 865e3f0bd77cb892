"""Errors of the frequency schemes on a Gaussian, next to an independent measurement of the same schemes.

    python benchmarks/scheme_errors.py [--draws 30] [--data letter] [--schemes sorf quadrature]

Relative error of K_hat on 1000 training rows, scale 1, s = d, 2 d, 4 d, 8 d frequencies (quadrature: 1, 2, 4, 8 groups
of d + 1). Every draw takes other rows and other frequencies. The reference is the mean of ten draws of plain NumPy
code written for that purpose. The exit status is 1 if a cell is above it by more than 4 standard errors of the
difference.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from protocol import some_rows

from krein import make_features, relative_error
from krein.datasets import load
from krein.kernels import Gaussian

REFERENCE_DRAWS, LIMIT = 10, 4.0
MULTIPLES = (1, 2, 4, 8)
ROUNDING = 0.0005  # of the reference
# (scheme, options): reference on letter and on ijcnn1; None where it was not measured
REFERENCE: dict[tuple[str, str | None], dict[str, tuple[float, ...] | None]] = {
    ("rff", None): {"letter": (0.163, 0.117, 0.083, 0.059), "ijcnn1": (0.264, 0.190, 0.137, 0.093)},
    ("orf", None): {"letter": (0.071, 0.053, 0.034, 0.025), "ijcnn1": (0.140, 0.092, 0.071, 0.050)},
    ("sorf", None): {"letter": (0.071, 0.051, 0.034, 0.029), "ijcnn1": (0.197, 0.118, 0.082, 0.056)},
    ("sorf", "rms"): {"letter": (0.052, 0.038, 0.030, 0.025), "ijcnn1": (0.180, 0.114, 0.077, 0.056)},
    ("sorf", "stratified"): {"letter": None, "ijcnn1": None},
    ("fastfood", None): {"letter": (0.203, 0.143, 0.105, 0.070), "ijcnn1": (0.277, 0.222, 0.145, 0.102)},
    ("circulant", None): {"letter": (0.151, 0.114, 0.082, 0.057), "ijcnn1": (0.242, 0.160, 0.112, 0.079)},
    ("qmc", None): {"letter": (0.173, 0.111, 0.056, 0.030), "ijcnn1": (0.239, 0.144, 0.087, 0.054)},
    ("qmc-halton", None): {"letter": (0.151, 0.107, 0.069, 0.043), "ijcnn1": (0.228, 0.151, 0.096, 0.062)},
    ("quadrature", None): {"letter": (0.084, 0.063, 0.041, 0.035), "ijcnn1": (0.179, 0.156, 0.074, 0.066)},
    ("simplex", None): {"letter": None, "ijcnn1": None},
}


def errors(X: np.ndarray, scheme: str, radii: str | None, multiple: int, draws: int) -> np.ndarray:
    """Relative errors of independent draws."""
    kernel, dim, found = Gaussian(1.0), X.shape[1], []
    columns = 2 * multiple * (dim + 1) + 1 if scheme == "quadrature" else 2 * multiple * dim
    options: dict[str, Any] = {} if radii is None else {"radii": radii}
    for seed in range(draws):
        rows = some_rows(X, [seed, multiple])
        features = make_features(scheme, kernel, columns, random_state=seed, **options).fit(rows)
        found.append(relative_error(kernel, features, rows))
    return np.array(found)


def z_score(ours: np.ndarray, reference: float) -> float:
    """Ours minus the reference over the standard error of the difference; its draws are taken to vary as ours do."""
    variance = ours.var(ddof=1) * (1 / len(ours) + 1 / REFERENCE_DRAWS) + ROUNDING**2 / 3
    return float((ours.mean() - reference) / np.sqrt(variance))


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 if a scheme is above the reference."""
    schemes = list(dict.fromkeys(scheme for scheme, _ in REFERENCE))
    parser = argparse.ArgumentParser(description="The frequency schemes, next to an independent measurement.")
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--data", choices=("letter", "ijcnn1"), default="letter")
    parser.add_argument("--schemes", nargs="+", choices=schemes, default=schemes)
    chosen = parser.parse_args(arguments)
    if chosen.draws < 2:
        parser.error(f"--draws must be at least 2; got {chosen.draws}")
    X, failed = load(chosen.data).X_train, 0
    print(f"{'scheme':12}{'radii':12}" + "".join(f"{f's = {m} d':>18}" for m in MULTIPLES) + "   (reference)")
    for (scheme, radii), references in REFERENCE.items():
        if scheme not in chosen.schemes:
            continue
        line, reference = f"{scheme:12}{radii or 'default':12}", references[chosen.data]
        for i, multiple in enumerate(MULTIPLES):
            ours = errors(X, scheme, radii, multiple, chosen.draws)
            line += f"{ours.mean():10.4f}"
            if reference is None:
                line += " " * 8
                continue
            above = z_score(ours, reference[i]) > LIMIT
            failed += above
            line += f" ({reference[i]:.3f}){'!' if above else ' '}"
        print(line.rstrip(), flush=True)
    print(f"{failed} cells are above the reference" if failed else "no scheme is above the reference")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
