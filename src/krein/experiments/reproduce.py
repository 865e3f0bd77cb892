"""``krein reproduce``: measure the figures and tables of the paper, write a report, compare with what is expected."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from krein.datasets import DATASETS, DatasetError
from krein.experiments._plots import need_matplotlib
from krein.experiments.cells import Cell
from krein.experiments.check import check_rows, format_findings
from krein.experiments.progress import clock
from krein.experiments.registry import EXPERIMENTS, plan
from krein.experiments.render import write_report
from krein.experiments.runner import CellsFailed, run
from krein.experiments.setting import dataset
from krein.experiments.store import Row, read_rows, set_aside

QUICK_REPS, REPS = 3, 10
DESCRIPTION = "Measure the figures and tables of the paper and write a report with text, tables and pictures."
EPILOG = """examples:
  krein reproduce --quick                    all that needs no data but letter, which comes with krein; minutes
  krein reproduce all --data DIR             the whole paper; DIR has the data files as they were downloaded
  krein reproduce table2 fig2 --datasets letter usps --reps 20
  krein reproduce all --data DIR --resume    go on after Ctrl-C or a crash
  krein reproduce --check                    compare the rows in --out with the paper, without computing

experiments:
""" + "\n".join(f"  {name:10} {one.title}: {one.summary}" for name, one in EXPERIMENTS.items())


def make_parser(prog: str) -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=prog, description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("experiments", nargs="*", metavar="EXPERIMENT", help="'all', or any of the names below")
    add("--quick", action="store_true", help=f"letter only, {QUICK_REPS} repetitions, all experiments by default")
    add("--data", type=Path, metavar="DIR", help="folder of ijcnn1, usps and housing as downloaded (or KREIN_DATA)")
    add("--out", type=Path, metavar="DIR", default=Path("krein-report"), help="where to write (default: krein-report)")
    add("--jobs", type=int, metavar="N", default=os.cpu_count() or 1, help="processes (default: one per core)")
    add("--reps", type=int, metavar="N", help=f"repetitions (default: {REPS}; {QUICK_REPS} with --quick)")
    add("--datasets", nargs="+", metavar="NAME", help="only these data sets")
    add("--methods", nargs="+", metavar="NAME", help="only these methods")
    add("--resume", action="store_true", help="keep the rows in --out and compute only what is missing")
    add("--check", action="store_true", help="exit with status 1 if a result differs from what is expected")
    return parser


def main(arguments: Sequence[str] | None = None, prog: str = "krein reproduce") -> int:
    """Run the command; 0 if all is well, 1 on a difference or a failed row, 130 after Ctrl-C."""
    parser = make_parser(prog)
    options = parser.parse_args(arguments)
    only_check = options.check and not options.experiments and not options.quick
    rows_file = options.out / "rows.jsonl"
    try:
        if only_check:
            rows = read_rows(rows_file)
            if not rows:
                raise ValueError(f"--check without an experiment needs rows in {rows_file}, and there are none.")
        else:
            cells = _cells(options)
            _load_data(cells, options.data)
            need_matplotlib()
            rows = _measure(cells, rows_file, options)
    except KeyboardInterrupt:
        print(
            f"\nInterrupted. What was finished is in {rows_file}; the same command with --resume goes on.",
            file=sys.stderr,
        )
        return 130
    except CellsFailed as error:
        print(
            f"{prog}: {error}\nAll other rows are in {rows_file}; --resume tries the missing ones again.",
            file=sys.stderr,
        )
        return 1
    except (ValueError, ImportError, OSError) as error:  # DatasetError and RowsError among them
        advice = " On the command line that folder is --data DIR." if isinstance(error, DatasetError) else ""
        parser.exit(2, f"{prog}: error: {error}{advice}\n")
    findings = check_rows(rows)
    if not only_check:
        for path in write_report(rows, findings, options.out):
            print(f"wrote {path}")
    if options.check:
        print(format_findings(findings))
        return int(any(not finding.agrees for finding in findings))
    return 0


def _cells(options: argparse.Namespace) -> list[Cell]:
    """What the options ask for."""
    names = options.experiments or (["all"] if options.quick else [])
    if not names:
        raise ValueError(f"Name an experiment, one of {', '.join(EXPERIMENTS)}, or 'all', or give --quick.")
    if "all" in names:
        names = list(EXPERIMENTS)
    if options.jobs < 1:
        raise ValueError(f"--jobs must be at least 1; got {options.jobs}.")
    if options.quick and options.datasets not in (None, ["letter"]):
        raise ValueError(f"--quick is for letter only; got --datasets {' '.join(options.datasets)}.")
    reps = options.reps if options.reps is not None else QUICK_REPS if options.quick else REPS
    cells = plan(names, reps, options.datasets, options.methods, options.quick)
    if not cells:
        raise ValueError("Nothing is left to do: no experiment has these data sets and methods.")
    return cells


def _load_data(cells: Sequence[Cell], folder: Path | None) -> None:
    """Find every data file now, so that a missing one is reported before anything is computed."""
    if folder is not None:
        if not folder.expanduser().is_dir():
            raise DatasetError(f"--data must be an existing folder; got {str(folder)!r}.")
        os.environ["KREIN_DATA"] = str(folder.expanduser().resolve())
    for name in dict.fromkeys(cell.data for cell in cells):
        if name in DATASETS:
            dataset(name, 0)


def _measure(cells: Sequence[Cell], path: Path, options: argparse.Namespace) -> list[Row]:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not options.resume and (kept := set_aside(path)):
        print(f"The rows of an earlier run are kept in {kept}.")
    rows = run(cells, path, options.jobs)
    print(f"{len(rows)} rows in {path}, {clock(sum(row['seconds'] for row in rows))} of computing")
    return rows
