"""A report: one self-contained HTML page about a model and its data."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from inspect import signature
from math import ceil, floor, inf
from pathlib import Path
from reprlib import Repr
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rosenblatt.atomic import write_whole
from rosenblatt.certify.certificate import Certificate
from rosenblatt.certify.fingerprint import Fingerprint
from rosenblatt.certify.time_limit import Clock
from rosenblatt.escaping import printable_lines
from rosenblatt.evaluation import Evaluation, Seen
from rosenblatt.exceptions import ParameterError
from rosenblatt.loops.layout import CSR
from rosenblatt.reports.sections import cases_of, in_words, looks_of, separability_of, training_of
from rosenblatt.reports.subject import Subject, subject_of
from rosenblatt.typing import ColumnLike, MatrixLike

if TYPE_CHECKING:
    from jinja2 import Environment, Template

    from rosenblatt.theory.bound import Bound

MAX_MATRIX_CLASSES = 30
"""Up to so many classes the page has the whole confusion matrix."""
LISTED_CONFUSIONS = 30
"""For more classes, the number of confusions that are listed."""
NAMES = r"X (does not have valid|has) feature names"
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
Facts = list[tuple[str, str]]


def write_report(path: str | os.PathLike[str], model: Any, X: MatrixLike, y: ColumnLike, **options: Any) -> Path:
    """Write the page of `render_report` to a file, and return its path.

    Parameters
    ----------
    path : path
        The file; an old one is replaced in one step.
    model, X, y, **options
        As for `render_report`.

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
    write_whole(path, render_report(model, X, y, **options).encode("utf-8"))
    return Path(path)


def render_report(
    model: Any,
    X: MatrixLike,
    y: ColumnLike,
    *,
    names: Sequence[str] | None = None,
    title: str | None = None,
    provenance: Mapping[str, Any] | None = None,
    rows: Sequence[Any] | None = None,
    certificate: Certificate | None = None,
    positive: Any = None,
    seen: Seen | Literal["unknown"] | None = None,
    trained: Any = None,
    prepared: Mapping[str, str] | None = None,
    first: int = 0,
    time_limit: float | None = 10.0,
) -> str:
    """Return a page about a classifier and its errors, weights and training on some data.

    The page is HTML that needs no network, no script and no other file. The same model and data give the same
    bytes, unless the time limit ends a computation.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this package. Sections that do not apply to it say why.
    X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
        The rows: the training data, or others.
    y : sequence, shape (n_rows,)
        Their labels, of classes that the model knows.
    names : sequence of str or None
        The names of the features; by default those of X or of the training data, else x1, x2, …
    title : str or None
        The heading.
    provenance : mapping or None
        Where model and data come from, such as files and seeds; mappings may be nested.
    rows : sequence or None
        The name of each row, such as its text or its place in a file, for the rows worth reading.
    certificate : Certificate or None
        A certificate for these rows, which is checked. By default a new one is made.
    positive : label or None
        The class of ROC AUC, average precision and the thresholds; by default the second of two classes.
    seen : "all", "some", "other", "unknown" or None
        Which of the rows the model was trained on, where it is known. By default the trace shows it, if it can.
    trained : array-like, sparse matrix or None
        The rows as the learner got them, if they were scaled and X is not: the bounds are about these.
    prepared : mapping or None
        How the rows were scaled and split before training, as sentences by name.
    first : int
        The number of the first row.
    time_limit : float or None
        Seconds for deciding whether the rows are separable, and then for the bounds; None for no limit.
    """
    if certificate is not None and not isinstance(certificate, Certificate):
        raise ParameterError(
            f"certificate is a {type(certificate).__name__}; pass what rosenblatt.certify returns.",
            parameter="certificate",
        )
    template = _template()
    with warnings.catch_warnings():
        # Different names are an error; missing names are not.
        warnings.filterwarnings("ignore", NAMES)
        subject = subject_of(model, X, y, names, rows, seen, positive, trained, first)
        evaluation = subject.evaluation
        clock = Clock(time_limit)
        proof = separability_of(subject, certificate, clock)
        training = training_of(subject, clock)
        looks = looks_of(subject)
        cases = cases_of(subject)
    return template.render(
        title=f"{subject.kind} on {subject.batch.n_rows:,} rows" if title is None else title,
        titled=title is not None,
        subject=subject,
        evaluation=evaluation,
        ranking=evaluation.ranks,
        confusion=_confusion(evaluation),
        confusions=evaluation.confusions[:LISTED_CONFUSIONS],
        proof=proof,
        training=training,
        looks=looks,
        cases=cases,
        parameters=_parameters(model),
        data=_data_facts(subject),
        prepared=list((prepared or {}).items()),
        versions=_versions(),
        provenance=list(_flat(provenance or {})),
    )


def _confusion(evaluation: Evaluation) -> list[list[tuple[int, float]]]:
    """Return each count and its share of its row; nothing for too many classes."""
    if len(evaluation.classes) > MAX_MATRIX_CLASSES:
        return []
    shares = evaluation.confusion / np.maximum(evaluation.support, 1)[:, None]
    return [
        list(zip(counts, share, strict=True))
        for counts, share in zip(evaluation.confusion.tolist(), shares.tolist(), strict=True)
    ]


def environment_of_pages() -> Environment:
    """Return what fills in templates of pages: it escapes text, and knows our filters."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise ImportError("A report needs jinja2: pip install jinja2") from error
    environment = Environment(
        autoescape=True, finalize=_shown, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"limit": _limit, "number": _number, "percent": _percent, "signed": _signed}
    return environment


def _template() -> Template:
    return environment_of_pages().from_string(
        files("rosenblatt.reports").joinpath("template.html").read_text(encoding="utf-8")
    )


def _parameters(model: Any) -> list[tuple[str, str, bool]]:
    """Return the parameters of a model as text, and whether each differs from its default."""
    defaults = {name: each.default for name, each in signature(type(model).__init__).parameters.items()}
    found = [(name, _text(value)) for name, value in model.get_params(deep=False).items()]
    return [(name, text, text != _text(defaults.get(name))) for name, text in found]


def _data_facts(subject: Subject) -> Facts:
    """Return the size of the data, with the fingerprint by which a proof names it."""
    batch = subject.batch
    kind = "sparse rows" if isinstance(batch.rows, CSR) else "dense rows"
    two = len(batch.classes) == 2
    signs = 2 * batch.codes - 1 if two else np.zeros(batch.n_rows, np.int64)
    return [
        ("rows", f"{batch.n_rows:,}"),
        ("features", f"{batch.n_features:,}"),
        ("layout", f"{kind} of {batch.values.dtype}, {batch.stored:,} values"),
        ("SHA-256" if two else "SHA-256, labels left out", Fingerprint(batch).of(signs)),
    ]


def _versions() -> Facts:
    from rosenblatt._version import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    return [("rosenblatt", __version__), ("Python", python), ("numpy", np.__version__)]


def _flat(given: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the names and texts of a nested mapping.

    Examples
    --------
    >>> list(_flat({"seed": 0, "data": {"files": ["a.csv", "b.csv"]}}))
    [('seed', '0'), ('data · files', 'a.csv, b.csv')]
    """
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name} · ")
        elif isinstance(value, list | tuple):
            yield f"{before}{name}", ", ".join(map(str, value))
        else:
            yield f"{before}{name}", str(value)


def _text(value: Any) -> str:
    """Return a value as short text, without its address in memory."""
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    short = Repr()
    short.maxstring = short.maxother = 120
    return ADDRESS.sub("", short.repr(value))


def _shown(value: Any) -> Any:
    """Escape control characters in text from files; pictures are our own markup."""
    return printable_lines(value) if type(value) is str else value


def _number(value: float) -> str:
    """Return a number with four digits, or with all digits before the point.

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


def _limit(bound: Bound) -> str:
    """Return the value of a bound: rounded down for counts, which are whole, and up to three digits for a rate."""
    if bound.value == inf:
        return "none"
    if bound.limits == "error":
        return in_words(ceil(bound.value)) if bound.value >= 10 else f"{ceil(1000 * bound.value) / 1000:g}"
    return in_words(floor(bound.value))


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + _number(value)


def _percent(share: float) -> str:
    """Return a share as a percentage, which is 100% or 0% only if it is so exactly."""
    text = f"{100 * share:.1f}"
    if text == "100.0":
        return "100%" if share == 1.0 else ">99.9%"
    if text == "0.0":
        return "0%" if share == 0.0 else "<0.1%"
    return text + "%"
