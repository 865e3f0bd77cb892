"""SVG pictures made part of a page: colours that follow the page, names that are unique, text for screen readers."""

from __future__ import annotations

import re
from html import escape

from krein.experiments.render.pictures import Picture
from krein.experiments.render.style import INK, LIGHT_AND_DARK, PALE, Style

NAMES = {colour: f"var(--c{i})" for i, colour in enumerate(LIGHT_AND_DARK)} | {INK: "currentColor", PALE: "var(--pale)"}
MARKER_PATHS = {
    "o": "M12-3.5a3.5 3.5 0 1 0 .01 0z",
    "s": "M8.5-3.5h7v7h-7z",
    "^": "M12-4l4 7h-8z",
    "v": "M12 4l4-7h-8z",
    "D": "M12-4.5l4 4.5-4 4.5-4-4.5z",
    "P": "M10.5-4h3v2.5h2.5v3h-2.5v2.5h-3v-2.5h-2.5v-3h2.5z",
    "X": "M8.5-2l2-2 1.5 1.5 1.5-1.5 2 2-1.5 2 1.5 2-2 2-1.5-1.5-1.5 1.5-2-2 1.5-2z",
    "*": "M12-5l1.3 3.4 3.7.2-2.9 2.3 1 3.6-3.1-2-3.1 2 1-3.6-2.9-2.3 3.7-.2z",
    "h": "M12-4l3.5 2v4l-3.5 2-3.5-2v-4z",
    "p": "M12-4l4 3-1.5 4.5h-5l-1.5-4.5z",
}
DASHES = {"-": "", "--": "5 3", ":": "1.5 2.5", "-.": "6 2 1.5 2"}


def inline_svg(picture: Picture) -> str:
    """The picture without XML header and fixed size, with title and description."""
    svg = picture.svg[picture.svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    prefix = re.sub(r"\W", "-", picture.name)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    for colour, name in NAMES.items():
        svg = svg.replace(colour, name)
    opening = re.match(r"<svg[^>]*>", svg)
    assert opening is not None
    box = re.search(r'viewBox="[^"]*"', opening[0])
    assert box is not None
    title, text = escape(picture.title), escape(picture.description)
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {box[0]} role="img" '
        f'aria-labelledby="{prefix}-t {prefix}-x"><title id="{prefix}-t">{title}</title>'
        f'<desc id="{prefix}-x">{text}</desc>'
    )
    return start + svg[opening.end() :]


def swatch(style: Style) -> str:
    """A short piece of a curve, for legends."""
    colour = NAMES.get(style.colour, "currentColor")
    path = MARKER_PATHS.get(style.marker, MARKER_PATHS["o"])
    return (
        f'<svg class="swatch" viewBox="0 -6 24 12" aria-hidden="true"><path d="M0 0h24" stroke="{colour}" '
        f'stroke-width="1.6" stroke-dasharray="{DASHES[style.dash]}"/><path d="{path}" fill="{colour}"/></svg>'
    )


def colour_variables(dark: bool) -> str:
    """CSS variables of the palette."""
    colours = LIGHT_AND_DARK.values() if dark else LIGHT_AND_DARK
    return "".join(f"--c{i}:{colour};" for i, colour in enumerate(colours))
