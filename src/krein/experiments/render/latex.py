r"""Tables as LaTeX, to be included with \input (needs the package booktabs)."""

from __future__ import annotations

from krein.experiments.render.model import Entry, Line, Table, groups

SPECIAL = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "\N{MINUS SIGN}": "$-$", "‖": r"$\|$", "K̂": r"$\hat K$"}


def latex(table: Table) -> str:
    r"""A table environment; the best entry is bold, a † marks what differs from the published number."""
    body = [_group(table, lines) for lines in groups(table.lines).values()]
    head = " & ".join([r"data", "method", "source", *(f"$s = {size}$" for size in table.sizes)])
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{escape(table.caption)}. Mean $\pm$ standard deviation; the best in bold; $\dagger$: further "
            r"than two standard errors from the published mean.}",
            rf"\label{{tab:{table.name}}}",
            rf"\begin{{tabular}}{{lll{'r' * len(table.sizes)}}}",
            r"\toprule",
            head + r" \\",
            "\n".join(r"\midrule" + "\n" + "\n".join(lines) for lines in body),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _group(table: Table, lines: list[Line]) -> list[str]:
    rows = []
    for i, line in enumerate(lines):
        names = [escape(text) for text in (line.group if not i else "", line.label, line.source)]
        rows.append(" & ".join([*names, *(_entry(table, entry) for entry in line.entries)]) + r" \\")
    return rows


def _entry(table: Table, entry: Entry | None) -> str:
    if entry is None:
        return "--"
    mean = table.number(entry.mean)
    text = rf"\mathbf{{{mean}}}" if entry.best else mean
    text += "" if entry.std is None else rf" \pm {table.number(entry.std)}"
    text += r"^\dagger" if entry.differs else ""
    return f"${text}$"


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    Examples
    --------
    >>> from krein.experiments.render.latex import escape
    >>> print(escape("3 % of R&D"))
    3 \% of R\&D
    """
    for plain, command in SPECIAL.items():
        text = text.replace(plain, command)
    return text
