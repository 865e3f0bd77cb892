"""What is wrong in the paper that krein starts from, each item with the numbers that show it, computed on the spot.

``krein errata [N ...] [--fast]`` prints them; ``docs/errata.md`` explains them.

>>> from krein.experiments.errata import ERRATA
>>> ERRATA[2].title
'The zero-extended polynomial kernel has infinite mass'
>>> [row.label for row in ERRATA[2].show(True)][:1]
['a = 3, m = 1: mass up to radius 25']
"""

from krein.experiments.errata.measured import measure_erratum
from krein.experiments.errata.record import Erratum, Row, Table, format_erratum
from krein.experiments.errata.registry import ERRATA

__all__ = ["ERRATA", "Erratum", "Row", "Table", "format_erratum", "measure_erratum"]
