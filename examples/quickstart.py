"""Approximate an indefinite kernel on the handwritten digits that come with scikit-learn, and classify with it.

Run it with ``python examples/quickstart.py``; it needs a few seconds, no network and no data file.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from krein import RandomFeatures, relative_error
from krein.kernels import DeltaGaussian

SCHEMES = ("grff", "gorf-blocks", "optimal")  # independent frequencies; orthonormal blocks of them; the default
WIDTHS = (64, 128, 256, 512)  # columns of the feature matrix; the data have 64
DRAWS = 3  # features are random: errors and accuracies are means over this many draws


def error_and_accuracy(scheme: str, width: int, kernel: DeltaGaussian, data: list[np.ndarray]) -> tuple[float, float]:
    """Mean relative error of the test rows' kernel matrix, and mean accuracy of a linear classifier on the features."""
    X_train, X_test, y_train, y_test = data
    results = []
    for seed in range(DRAWS):
        features = RandomFeatures(kernel, n_components=width, scheme=scheme, random_state=seed).fit(X_train)
        classifier = LinearSVC(random_state=seed).fit(features.transform(X_train), y_train)
        accuracy = classifier.score(features.transform(X_test), y_test)
        results.append((relative_error(kernel, features, X_test), accuracy))
    error, accuracy = np.mean(results, axis=0)
    return float(error), float(accuracy)


def main() -> None:
    """Print one row per width: error and accuracy of every scheme."""
    X, y = load_digits(return_X_y=True)
    data = train_test_split(normalize(X), y, test_size=1 / 3, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = data

    kernel = DeltaGaussian(weights=(1.0, -1.0), scales=(1.0, 10.0))
    eigenvalues = np.linalg.eigvalsh(kernel(X_test))
    print(f"kernel   {kernel}")
    print(f"         eigenvalues on {len(X_test)} test rows: {eigenvalues.min():.1f} to {eigenvalues.max():.1f}")
    print(f"raw      {LinearSVC(random_state=0).fit(X_train, y_train).score(X_test, y_test):.1%} accuracy of LinearSVC")
    print("\nrelative error of the kernel matrix, and accuracy of LinearSVC on the features:\n")
    print("columns " + "".join(f"{scheme:>22}" for scheme in SCHEMES))
    for width in WIDTHS:
        cells = [error_and_accuracy(scheme, width, kernel, data) for scheme in SCHEMES]
        print(f"{width:7d} " + "".join(f"{f'{error:.4f}  {accuracy:.1%}':>22}" for error, accuracy in cells))


if __name__ == "__main__":
    main()
