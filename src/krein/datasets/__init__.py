"""Data sets of the paper and of the tests, prepared the same way everywhere, and the files of the user.

>>> from krein import datasets
>>> datasets.load("letter")
Dataset('letter', 12000 + 6000 rows, 16 columns)
"""

from krein.datasets.dataset import Dataset, DatasetError
from krein.datasets.loading import load
from krein.datasets.registry import DATASETS, RemoteFile, Source, describe

__all__ = ["DATASETS", "Dataset", "DatasetError", "RemoteFile", "Source", "describe", "load"]
