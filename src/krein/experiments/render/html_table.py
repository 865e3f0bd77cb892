"""Tables as HTML that reads well aloud: captions, scopes, and marks with words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from krein.experiments.render.model import Entry, Line, Table, groups

CLASSES = {"paper": "paper", "reproduced": "reproduced", "krein": "own"}


def html_table(table: Table) -> str:
    """One table; it scrolls sideways by itself where the page is narrow, also with the keyboard."""
    head = "".join(f'<th scope="col">s = {escape(size)}</th>' for size in table.sizes)
    body = "".join(_group(table, name, lines) for name, lines in groups(table.lines).items())
    caption = f"{table.caption}: mean ± standard deviation; small numbers are real columns"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.caption)}"><table>'
        f'<caption>{escape(caption)}</caption><thead><tr><th scope="col" class="name">method</th>'
        f'<th scope="col" class="name">source</th>{head}</tr></thead>{body}</table></div>'
    )


def _group(table: Table, name: str, lines: Sequence[Line]) -> str:
    title = f'<tr><th scope="rowgroup" colspan="{2 + len(table.sizes)}" class="group">{escape(name)}</th></tr>'
    rows = "".join(
        f'<tr class="{CLASSES[line.source]}"><th scope="row" class="name">{escape(line.label)}</th>'
        f'<th scope="row" class="name">{line.source}</th>'
        f"{''.join(f'<td>{_entry(table, entry)}</td>' for entry in line.entries)}</tr>"
        for line in lines
    )
    return f"<tbody>{title}{rows}</tbody>"


def _entry(table: Table, entry: Entry | None) -> str:
    if entry is None:
        return '<span aria-label="none">&ndash;</span>'
    text = table.number(entry.mean)
    text = f"<strong>{text}</strong>" if entry.best else text
    if entry.std is not None:
        text += f" ± {table.number(entry.std)}"
    if entry.differs:
        text += '<span class="mark" aria-hidden="true">†</span><span class="hidden"> differs from the paper</span>'
    return text if entry.columns is None else f"{text}<small>{entry.columns}</small>"


def html_errata_table(number: int, rows: Sequence[Sequence[Any]]) -> str:
    """The numbers of one erratum: label, value, what it is to be compared with."""
    body = "".join(
        f'<tr><th scope="row" class="name">{escape(label)}</th><td>{_number(value, error)}</td>'
        f"<td>{'' if reference is None else _number(reference, spread)}</td><td>{escape(source)}</td></tr>"
        for label, value, error, reference, spread, source in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Erratum {number}"><table><thead><tr>'
        f'<th scope="col" class="name">what</th><th scope="col">value</th><th scope="col">compare with</th>'
        f'<th scope="col"><span class="hidden">source</span></th></tr></thead><tbody>{body}</tbody></table></div>'
    )


def _number(value: float | str, error: float) -> str:
    return f"{float(value):.4g}" + (f" ± {error:.2g}" if error else "")
