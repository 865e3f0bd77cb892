"""Every data set by its name: files, reader, split, scaling, citation, licence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from krein.datasets.dataset import Table
from krein.datasets.readers import read_bundled, read_housing, read_ijcnn1, read_shipped_letter, read_usps

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
ELEMENTS = "https://hastie.su.domains/ElemStatLearn/datasets"
BUNDLED_LICENCE = "Part of scikit-learn; see the documentation of sklearn.datasets."


@dataclass(frozen=True)
class RemoteFile:
    """A file as its publisher offers it.

    Parameters
    ----------
    url : str
    sha256 : str
        Digest of the file as downloaded, still compressed.
    size : int
        Number of bytes.
    """

    url: str
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """Name of the file, without a folder."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class Source:
    """What there is to know about a data set, and how it becomes training and test rows.

    Parameters
    ----------
    task : "classification" or "regression"
    n_train, n_test, n_features : int
        What ``load`` returns. A set without a given split may have more rows than ``n_train + n_test``.
    read : callable
        ``read(paths)`` gives one table, to be split at random, or two, the training and the test rows.
    citation, licence : str
    files : tuple of RemoteFile, default=()
        Public files of the set, in the order of the ``paths`` that ``read`` wants.
    shipped : bool, default=False
        Whether a copy is part of an installed package, so that no file is needed.
    interval : tuple of two floats or None, default=None
        Range of every column over the training rows after min-max scaling; None leaves the values as they are.
    """

    task: Literal["classification", "regression"]
    n_train: int
    n_test: int
    n_features: int
    read: Callable[[Sequence[Path]], tuple[Table, ...]]
    citation: str
    licence: str
    files: tuple[RemoteFile, ...] = ()
    shipped: bool = False
    interval: tuple[float, float] | None = None


def _bundled(
    name: str, task: Literal["classification", "regression"], n_rows: int, n_features: int, citation: str
) -> Source:
    """A set of scikit-learn: a quarter of the rows, rounded down, is for testing."""
    n_test = n_rows // 4
    reader = partial(read_bundled, name)
    return Source(task, n_rows - n_test, n_test, n_features, reader, citation, BUNDLED_LICENCE, shipped=True)


DATASETS: dict[str, Source] = {
    "letter": Source(  # 2000 of the 20000 rows are left out in every split, as in the paper
        "classification",
        n_train=12000,
        n_test=6000,
        n_features=16,
        read=read_shipped_letter,
        citation="D. J. Slate: Letter Recognition. UCI Machine Learning Repository, 1991. doi:10.24432/C5ZP40",
        licence="CC BY 4.0. A copy is part of krein.",
        files=(
            RemoteFile(
                f"{UCI}/letter-recognition/letter-recognition.data",
                "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2",
                712565,
            ),
        ),
        shipped=True,
        interval=(-1.0, 1.0),
    ),
    "ijcnn1": Source(
        "classification",
        n_train=49990,
        n_test=91701,
        n_features=22,
        read=read_ijcnn1,
        citation="D. Prokhorov: IJCNN 2001 neural network competition. Slide presentation in IJCNN'01, Ford Research "
        "Laboratory, 2001. In the form of C.-C. Chang and C.-J. Lin, LIBSVM Data",
        licence="None is stated. Not part of krein.",
        files=(
            RemoteFile(
                f"{LIBSVM}/binary/ijcnn1.bz2",
                "450dee8470b168e47b9fae1fc160396b8a809c675737837fce3acd51dcdc0481",
                1398220,
            ),
            RemoteFile(
                f"{LIBSVM}/binary/ijcnn1.t.bz2",
                "acd1db430684fdd3f0c768ecc49aa8e749d0004fc117611220c2aa576a7b6a24",
                2597597,
            ),
        ),
    ),
    "usps": Source(
        "classification",
        n_train=7291,
        n_test=2007,
        n_features=256,
        read=read_usps,
        citation="Y. Le Cun et al.: Handwritten digit recognition with a back-propagation network. NIPS 2, 1990. "
        "In the form of T. Hastie, R. Tibshirani and J. Friedman, The Elements of Statistical Learning, ZIP code data",
        licence="None is stated; made available by the neural network group at AT&T research labs. Not part of krein.",
        files=(
            RemoteFile(
                f"{ELEMENTS}/zip.train.gz", "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16", 1829071
            ),
            RemoteFile(
                f"{ELEMENTS}/zip.test.gz", "8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f", 439208
            ),
        ),
    ),
    "housing": Source(
        "regression",
        n_train=405,
        n_test=101,
        n_features=13,
        read=read_housing,
        citation="D. Harrison and D. L. Rubinfeld: Hedonic housing prices and the demand for clean air. "
        "J. Environmental Economics and Management 5 (1978), 81-102",
        licence="None is stated. Not part of krein. Scikit-learn gave the set up because its column B, made from the "
        "share of black inhabitants, assumes racial segregation; krein has it only to repeat published tables.",
        files=(
            RemoteFile(
                f"{UCI}/housing/housing.data", "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a", 49082
            ),
        ),
        interval=(0.0, 1.0),
    ),
    "digits": _bundled(
        "digits", "classification", 1797, 64, "E. Alpaydin and C. Kaynak, UCI, 1998. doi:10.24432/C50P49"
    ),
    "breast_cancer": _bundled(
        "breast_cancer", "classification", 569, 30, "W. Wolberg et al., UCI, 1993. doi:10.24432/C5DW2B"
    ),
    "wine": _bundled("wine", "classification", 178, 13, "S. Aeberhard and M. Forina, UCI, 1992. doi:10.24432/C5PC7J"),
    "iris": _bundled("iris", "classification", 150, 4, "R. A. Fisher, 1936; UCI, 1988. doi:10.24432/C56C76"),
    "diabetes": _bundled(
        "diabetes",
        "regression",
        442,
        10,
        "B. Efron, T. Hastie, I. Johnstone and R. Tibshirani: Least angle regression. Annals of Statistics 32 (2004)",
    ),
}


def describe() -> str:
    """All registered data sets: sizes, citation, licence, where the files come from.

    Examples
    --------
    >>> from krein.datasets import describe
    >>> print(describe())
    letter: classification, 12000 + 6000 rows, 16 columns
      D. J. Slate: Letter Recognition. UCI Machine Learning Repository, 1991. doi:10.24432/C5ZP40
      Licence: CC BY 4.0. A copy is part of krein.
      https://archive.ics.uci.edu/ml/machine-learning-databases/letter-recognition/letter-recognition.data
    ijcnn1: classification, 49990 + 91701 rows, 22 columns
    ...
    """
    lines = []
    for name, source in DATASETS.items():
        lines.append(f"{name}: {source.task}, {source.n_train} + {source.n_test} rows, {source.n_features} columns")
        lines.append(f"  {source.citation}")
        lines.append(f"  Licence: {source.licence}")
        lines += [f"  {file.url}" for file in source.files]
    return "\n".join(lines)
