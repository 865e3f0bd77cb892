"""The command ``krein errata [N ...] [--fast]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from krein.experiments.errata.record import format_erratum
from krein.experiments.errata.registry import ERRATA

LEGEND = """After ± stands the standard error of a mean over random draws, or the standard deviation of Table II.
Errors are relative Frobenius errors on 1000 rows of letter, d = 16; s is the number of frequencies per sign."""


def main(arguments: Sequence[str] | None = None, prog: str = "python -m krein.experiments.errata") -> int:
    """Print the chosen errata; 0."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="What is wrong in the paper, and the numbers that show it, computed now.",
        epilog="\n".join(f"{number:3}  {erratum.title}" for number, erratum in ERRATA.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("numbers", metavar="N", type=int, nargs="*", help="which errata (default: all)")
    parser.add_argument("--fast", action="store_true", help="fewer random draws")
    chosen = parser.parse_args(arguments)
    if unknown := [number for number in chosen.numbers if number not in ERRATA]:
        parser.error(f"N must be between 1 and {len(ERRATA)}; got {unknown[0]}.")
    print(LEGEND, end="\n\n")
    for number in chosen.numbers or ERRATA:
        print(format_erratum(number, ERRATA[number], ERRATA[number].show(chosen.fast)), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
