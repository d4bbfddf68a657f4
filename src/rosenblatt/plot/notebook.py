"""The lab in a notebook: a run to step through, below its cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from rosenblatt.exceptions import InputError
from rosenblatt.plot.animation import run_page


@dataclass(frozen=True)
class LabView:
    """The lab page with a run; Jupyter shows it in a frame.

    Attributes
    ----------
    page : str
        The page, which needs no network and no other file.
    height : int
        The height of the frame, in pixels.
    """

    page: str = field(repr=False)
    height: int = 800

    def _repr_html_(self) -> str:
        # The frame may run the page's own script, and has no access to the notebook.
        look = f"width:100%;height:{self.height}px;border:1px solid #8886;border-radius:8px"
        attributes = 'sandbox="allow-scripts allow-downloads" title="The perceptron lab"'
        return f'<iframe {attributes} style="{look}" srcdoc="{escape(self.page)}"></iframe>'


@cache
def _widget_class() -> Any:
    """Return the class of widgets that show the lab page, or None where anywidget is not installed."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        return None

    class LabWidget(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
        """The lab page as a Jupyter widget; setting `page` or `height` changes what is shown."""

        _esm = (files("rosenblatt") / "lab_page" / "widget.js").read_text(encoding="utf-8")
        page = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(800).tag(sync=True)

    return LabWidget


def lab(trace: Any, X: Any, y: Any, *, height: int = 800) -> Any:
    """Show a run in a notebook, to step through it forward and back.

    Parameters
    ----------
    trace : Trace, or an estimator with ``trace_``
        The record of a run.
    X, y : arrays
        Its training data.
    height : int
        The height of the frame, in pixels.

    Returns
    -------
    LabView, or a widget where anywidget is installed
        Jupyter displays it. Its `page` can be written to a file; `plot.animate` does that.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_six_points()
    >>> rb.lab(rb.Perceptron(order="cyclic").fit(X, y), X, y).height
    800
    """
    record = getattr(trace, "trace_", trace)
    if not hasattr(record, "to_document"):
        raise InputError(f"{trace!r} has no trace to show. Train a perceptron, and not with trace=None.")
    known = {"eta": "eta0", "margin": "margin", "tie": "tie", "reason": "stop_reason_"}
    options = {name: getattr(trace, attribute, None) for name, attribute in known.items()}
    page, widget = run_page(record.to_document(X, y, **options)), _widget_class()
    return LabView(page, height) if widget is None else widget(page=page, height=height)
