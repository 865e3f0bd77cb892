"""The command ``krein``: reproduce the paper, compare feature maps, show the errata."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from krein import __version__

COMMANDS = {  # name: module with a function main(arguments, prog), and what it does
    "reproduce": ("krein.experiments.reproduce", "measure the figures and tables of the paper and write a report"),
    "compare": ("krein.experiments.compare", "compare feature maps on a kernel and data of your choice"),
    "errata": ("krein.experiments.errata.__main__", "show what is wrong in the paper, by numbers"),
}
EPILOG = "commands:\n" + "\n".join(f"  {name:11}{about}" for name, (_, about) in COMMANDS.items())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is its own.

    Examples
    --------
    >>> from krein.cli import main
    >>> main(["errata", "2", "--fast"])  # doctest: +ELLIPSIS
    After ± stands ...
    0
    """
    parser = argparse.ArgumentParser(
        prog="krein",
        description="Kernel machines with indefinite kernels at linear cost.",
        epilog=EPILOG + "\n\n'krein COMMAND --help' says more about each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"krein {__version__}")
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS, help="one of the commands below")
    parser.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="its arguments")
    chosen = parser.parse_args(arguments)
    module = importlib.import_module(COMMANDS[chosen.command][0])
    return int(module.main(chosen.arguments, prog=f"krein {chosen.command}"))


if __name__ == "__main__":
    sys.exit(main())
