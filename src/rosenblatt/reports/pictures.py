"""Pictures as SVG elements of a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from rosenblatt.escaping import printable_lines

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MANY = 1500
"""Up to so many points are drawn as shapes; more become one image."""
SHARP = 150
"""Dots per inch of such an image."""
REFERENCE = re.compile(r"#([\w.-]+)")


def picture(draw: Callable[[Axes], Any], size: tuple[float, float], name: str, described: str) -> Markup:
    """Return a picture of this size in inches, drawn by `draw` on Axes, as an SVG element.

    `name` begins the ids in the picture, so that they are unique on the page, and `described` is the text for
    people who do not see it. The element has no declaration, comments, metadata or addresses, and the same bytes
    for the same picture.
    """
    from rosenblatt.plot import style

    style.pyplot()  # explains how to install matplotlib if it is missing
    import matplotlib as mpl
    from markupsafe import Markup
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "path", "savefig.transparent": True}):
        figure = Figure(figsize=size, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)  # type: ignore[union-attr, call-arg]
        ax = figure.add_subplot()
        draw(ax)
        for points in ax.collections:
            if len(points.get_offsets()) > MANY:  # type: ignore[arg-type]
                points.set_rasterized(True)
        _make_printable(figure)
        made = BytesIO()
        figure.savefig(
            made, format="svg", dpi=SHARP, bbox_inches="tight", pad_inches=0.06, metadata={"Date": None}
        )
    return Markup(_element(made.getvalue(), name, described))


def _make_printable(figure: Figure) -> None:
    """Escape control characters in labels and names; draw what is no formula as plain text."""
    from matplotlib.mathtext import MathTextParser
    from matplotlib.text import Text

    formulas = MathTextParser("path")
    for text in figure.findobj(Text):
        text.set_text(printable_lines(text.get_text()))
        try:
            for line in text.get_text().splitlines() if "$" in text.get_text() else ():
                formulas.parse(line)
        except ValueError:
            text.set_parse_math(False)


def _element(svg: bytes, name: str, described: str) -> str:
    """Return the picture of an SVG file as an element of a page."""
    root = ElementTree.fromstring(svg)  # drops comments and the document type
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith("}metadata"):
                parent.remove(child)
    parts = list(root.iter())
    for part in parts:
        part.tag = _local(part.tag)
        part.attrib = {_local(key): value for key, value in part.attrib.items()}
    used = {found for part in parts for value in part.attrib.values() for found in REFERENCE.findall(value)}
    for part in parts:
        if part.attrib.get("id") not in used:
            part.attrib.pop("id", None)
        part.attrib = {
            key: f"{name}-{value}" if key == "id" else _renamed(value, used, name)
            for key, value in part.attrib.items()
        }
    width = root.attrib.pop("width")
    root.attrib.pop("height", None)
    root.attrib |= {"role": "img", "aria-label": described, "style": f"max-width:{width}"}
    return ElementTree.tostring(root, encoding="unicode")


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _renamed(value: str, used: set[str], name: str) -> str:
    def renamed(found: re.Match[str]) -> str:
        return f"#{name}-{found[1]}" if found[1] in used else found[0]

    # A colour such as #0072B2 looks like a reference, but is not an id.
    return REFERENCE.sub(renamed, value) if "url(#" in value or value.startswith("#") else value
