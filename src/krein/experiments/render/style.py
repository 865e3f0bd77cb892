"""Colours, markers and line styles: the same for a method in every picture and legend."""

from __future__ import annotations

from dataclasses import dataclass

LIGHT_AND_DARK = {  # colour in pictures on white: the same hue on a dark page
    "#0067a5": "#5cb3f0",
    "#c2410c": "#ff9b61",
    "#00795a": "#3fcf9f",
    "#a3368f": "#f08ad9",
    "#8a6a00": "#e2bc3a",
    "#475569": "#a5b4c8",
    "#7c3aed": "#b79bff",
    "#b91c1c": "#ff8a8a",
}
BLUE, ORANGE, GREEN, PINK, YELLOW, GREY, VIOLET, RED = LIGHT_AND_DARK
INK, PALE = "#111111", "#8c8c8c"  # text and axes; grid


@dataclass(frozen=True)
class Style:
    """How one curve is drawn."""

    colour: str
    marker: str
    dash: str = "-"


STYLES = {
    "rm": Style(GREY, "v", ":"),
    "ts": Style(YELLOW, "D", ":"),
    "srf": Style(GREEN, "^", ":"),
    "digmm": Style(PINK, "P", ":"),
    "grff": Style(ORANGE, "s", "--"),
    "published-grff": Style(ORANGE, "s", "--"),
    "gorf": Style(RED, "X", "--"),
    "gorf-blocks": Style(BLUE, "o"),
    "published-gorf": Style(BLUE, "o"),
    "optimal": Style(VIOLET, "*"),
    "KreinSVC": Style(RED, "h", "-."),
    "KreinRidgeClassifier": Style(PINK, "p", "-."),
}
POSITIVE_DASH = "--"  # curves of the positive part only


def style_of(method: str) -> Style:
    """The style of a method; ":positive" keeps colour and marker of the whole map, dashed."""
    name, _, positive = method.partition(":")
    style = STYLES.get(name, Style(INK, "."))
    return Style(style.colour, style.marker, POSITIVE_DASH) if positive else style
