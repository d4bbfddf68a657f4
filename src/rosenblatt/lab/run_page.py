"""A run to step through: its document, the lab page with it, and that page below the cell of a notebook."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from rosenblatt.escaping import html_frame
from rosenblatt.exceptions import InputError
from rosenblatt.learning.trace import Trace
from rosenblatt.typing import ColumnLike, MatrixLike


def run_document(trace: Any, X: MatrixLike, y: ColumnLike, order: Any = None) -> dict[str, Any]:
    """Return the run of a trace, or of an estimator with its rule and the end of training, as a document."""
    record = _record_of(trace)
    document: dict[str, Any] = record.to_document(X, y, order=order, reason=getattr(trace, "stop_reason_", None))
    document["rule"] |= rule_of(trace, y)
    return document


def _record_of(trace: Any) -> Trace:
    """Return the record of a run over the features of its data."""
    record = getattr(trace, "trace_", trace)
    if not isinstance(record, Trace):
        raise InputError(f"{trace!r} has no trace to show. Train a perceptron, and not with trace=None.")
    given = getattr(trace, "n_features_in_", record.n_features)
    if given != record.n_features:
        raise InputError(
            f"{trace!r} made {record.n_features} features of {given}, and its run is over those. Pass trace_ in "
            "its place, and as X the features that it made."
        )
    return record


def rule_of(model: Any, y: ColumnLike) -> dict[str, Any]:
    """Return the rule that an estimator trains by as a run document writes it; nothing if it has no such rule."""
    from rosenblatt.estimators.lifted import LiftedPerceptron
    from rosenblatt.estimators.passive_aggressive import PassiveAggressiveClassifier
    from rosenblatt.estimators.perceptron import Perceptron
    from rosenblatt.estimators.pocket import PocketPerceptron
    from rosenblatt.rows.batch import weights_by_count

    if isinstance(model, LiftedPerceptron):
        return {"kind": "lifted", "eta": 1.0, "margin": 0.0, "tie": "mistake", "square": model.a * model.a}
    if not isinstance(model, Perceptron | PocketPerceptron):
        return {}
    margin: Any = model.margin
    plus, minus = map(float, margin if isinstance(margin, tuple | list) else (margin, margin))
    rule: dict[str, Any] = {"eta": float(model.eta0), "margin": plus, "margin_minus": minus, "tie": model.tie}
    if model.class_weight is not None:
        counts = np.array([np.sum(np.asarray(y) == label) for label in model.classes_])
        weights = weights_by_count(model.class_weight, counts, model.classes_)
        rule["weights"] = None if weights is None else weights.tolist()
    if isinstance(model, PassiveAggressiveClassifier):
        squared = model.loss == "squared_hinge"
        limited = not squared and model.C < math.inf
        soft = 1.0 / (2.0 * model.C) if squared else 0.0
        rule |= {"kind": "passive", "most": float(model.C) if limited else None, "soft": soft}
    return rule


def run_page(document: dict[str, Any]) -> str:
    """Return the lab page with a run document in it, which it plays when it is opened."""
    page = (files("rosenblatt.lab") / "index.html").read_text(encoding="utf-8")
    # No text of the document can end the element: every < is written as an escape.
    text = json.dumps(document, allow_nan=False).replace("<", "\\u003c")
    before, at, after = page.rpartition("<script>")
    return f'{before}<script type="application/json" id="run">{text}</script>\n{at}{after}'


def page_of(trace: Any, X: MatrixLike, y: ColumnLike) -> str:
    """Return the lab page with the run of a trace, or of an estimator with ``trace_``."""
    return run_page(run_document(trace, X, y))


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
        return html_frame(self.page, self.height, "The perceptron lab")


@cache
def _widget_class() -> Any:
    """Return the class of widgets that show the lab page."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError("A widget needs anywidget: pip install anywidget") from error

    class LabWidget(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
        """The lab page as a Jupyter widget; setting `page` or `height` changes what is shown."""

        _esm = (files("rosenblatt.lab") / "widget.js").read_text(encoding="utf-8")
        page = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(800).tag(sync=True)

    return LabWidget


def lab(
    trace: Any,
    X: MatrixLike | None = None,
    y: ColumnLike | None = None,
    *,
    height: int = 800,
    widget: bool = False,
) -> Any:
    """Show a run in a notebook, to step through it forward and back. An exported notebook shows it offline, too.

    Parameters
    ----------
    trace : Trace, or an estimator with ``trace_``
        The record of a run.
    X, y : arrays
        Its training data, which a trace does not hold.
    height : int
        The height of the frame, in pixels.
    widget : bool
        Whether to return a widget, whose `page` and `height` can be changed while it is shown. It needs anywidget,
        and exported notebooks show it only with a network, from which they load the code of widgets.

    Returns
    -------
    LabView, or a widget
        Jupyter displays it. Its `page` can be written to a file; `plot.animate` does that.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_six_points()
    >>> rb.lab(rb.Perceptron(order="cyclic").fit(X, y), X, y).height
    800
    """
    if X is None or y is None:
        raise InputError("A trace does not hold its data. Pass the training data too: rb.lab(clf, X, y).")
    page = page_of(trace, X, y)
    if not widget:
        return LabView(page, height)
    return _widget_class()(page=page, height=height)
