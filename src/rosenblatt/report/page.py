"""`write_report`: all that is known of a model and its data, on one page that needs nothing else."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.atomic import write_whole
from rosenblatt.certify.certificate import Certificate
from rosenblatt.certify.time_limit import Clock
from rosenblatt.escaping import printable_lines
from rosenblatt.evaluation import Evaluation
from rosenblatt.exceptions import ParameterError
from rosenblatt.report import provenance as origin
from rosenblatt.report.errors import cases_of
from rosenblatt.report.proof import proof_of
from rosenblatt.report.subject import subject_of
from rosenblatt.report.training import training_of
from rosenblatt.report.weights import looks_of

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render_report", "write_report"]

WIDEST = 30
"""Classes up to which the page has the whole confusion matrix."""
CONFUSIONS = 30
"""Of more classes, the confusions that are listed."""
NAMES = r"X (does not have valid|has) feature names"


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    title: str | None = None,
    provenance: Mapping[str, Any] | None = None,
    rows: Sequence[Any] | None = None,
    certificate: Certificate | None = None,
    time_limit: float | None = 10.0,
) -> Path:
    """Write a page about a classifier and some data: how it was trained, what it looks at, where it errs, and why.

    The page is one HTML file that needs no network, no script and nothing beside it. It is the same, byte for
    byte, for the same model and data, unless time runs out in another place.

    Parameters
    ----------
    path : path
        Where to write; what stands there is replaced in one step.
    model : classifier
        A fitted one of this package; sections that do not apply to it say why.
    X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
        The rows: those it was trained on, or others.
    y : sequence, shape (n_rows,)
        Their labels, of classes that the model knows.
    names : sequence of str or None
        The names of the features; by default those of X or of the training data, else x1, x2, …
    title : str or None
        The heading.
    provenance : mapping or None
        What else is known of where model and data come from, such as files and seeds; nested mappings are fine.
    rows : sequence or None
        What each row is called: a text, or a place in a file. Shown beside rows worth looking at.
    certificate : Certificate or None
        What is known of the separability of these rows; it is checked. By default it is asked.
    time_limit : float or None
        Seconds for deciding whether the rows are separable, and then for the bounds; None for as long as it takes.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from tempfile import TemporaryDirectory
    >>> X, y = rb.datasets.load_six_points()
    >>> clf = rb.Perceptron().fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     page = write_report(f"{folder}/six.html", clf, X, y).read_text(encoding="utf-8")
    >>> "6 of 6 rows right" in page
    True
    """
    page = render_report(
        model,
        X,
        y,
        names=names,
        title=title,
        provenance=provenance,
        rows=rows,
        certificate=certificate,
        time_limit=time_limit,
    )
    write_whole(path, page.encode("utf-8"))
    return Path(path)


def render_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    title: str | None = None,
    provenance: Mapping[str, Any] | None = None,
    rows: Sequence[Any] | None = None,
    certificate: Certificate | None = None,
    time_limit: float | None = 10.0,
) -> str:
    """Return the page of `write_report` as text."""
    if certificate is not None and not isinstance(certificate, Certificate):
        raise ParameterError(
            f"certificate is a {type(certificate).__name__}; pass what rosenblatt.certify returns."
        )
    template = _template()
    with warnings.catch_warnings():
        # Names that differ are an error; that only one side has any is what `names` is for.
        warnings.filterwarnings("ignore", NAMES)
        subject = subject_of(model, X, y, names, rows)
        evaluation = subject.evaluation
        clock = Clock(time_limit)
        proof = proof_of(subject, certificate, clock)
        training = training_of(subject, clock)
        looks = looks_of(subject)
        cases = cases_of(subject)
    return template.render(
        title=f"{subject.kind} on {subject.batch.n_rows:,} rows" if title is None else title,
        titled=title is not None,
        subject=subject,
        evaluation=evaluation,
        confusion=_confusion(evaluation),
        confusions=evaluation.confusions[:CONFUSIONS],
        proof=proof,
        training=training,
        looks=looks,
        cases=cases,
        parameters=origin.parameters(model),
        data=origin.data_facts(subject),
        versions=origin.versions(),
        provenance=origin.flat(provenance),
    )


def _confusion(evaluation: Evaluation) -> list[list[tuple[int, float]]]:
    """Return counts, and the share that each has of its row; nothing of too many classes."""
    if len(evaluation.classes) > WIDEST:
        return []
    shares = evaluation.confusion / np.maximum(evaluation.support, 1)[:, None]
    return [
        list(zip(counts, share, strict=True))
        for counts, share in zip(evaluation.confusion.tolist(), shares.tolist(), strict=True)
    ]


def _template() -> Template:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError("rosenblatt.report needs jinja2: pip install rosenblatt[report]") from error
    environment = Environment(
        autoescape=True, finalize=_shown, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"number": _number, "percent": _percent, "signed": _signed}
    return environment.from_string(
        files("rosenblatt.report").joinpath("template.html").read_text(encoding="utf-8")
    )


def _shown(value: Any) -> Any:
    """Escape control characters in text from files; pictures are markup of our own."""
    return printable_lines(value) if type(value) is str else value


def _number(value: float) -> str:
    """Return a number in four digits, or all those before its point, as people write it.

    Examples
    --------
    >>> _number(-12345.6), _number(0.00123456), _number(2e-9), _number(3e12)
    ('−12,346', '0.001235', '2e−9', '3e12')
    """
    size = abs(value)
    if 1e4 <= size < 1e7:
        text = f"{value:,.0f}"
    else:
        text = re.sub(r"e([-+])0*", lambda sign: "e" + sign[1].replace("+", ""), f"{value:.4g}")
    return text.replace("-", "−")


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + _number(value)


def _percent(share: float) -> str:
    """Return a share as a percentage that is 100% or 0% only if it is."""
    text = f"{100 * share:.1f}"
    if text == "100.0":
        return "100%" if share == 1.0 else ">99.9%"
    if text == "0.0":
        return "0%" if share == 0.0 else "<0.1%"
    return text + "%"
