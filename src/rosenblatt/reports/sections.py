"""The sections of a report: mistakes, weights, training with its bounds, separability with its proof."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from math import floor, inf
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from rosenblatt.certify.certificate import Certificate, Separable
from rosenblatt.certify.class_tables import MARKS, ClassTables, decided_among
from rosenblatt.escaping import printable_lines
from rosenblatt.exceptions import InputError, TrivialSeparationWarning, UndecidedError
from rosenblatt.loops.layout import CSR, value_slices
from rosenblatt.reports.subject import PLANE, Subject
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rosenblatt.certify.time_limit import Clock
    from rosenblatt.theory.bound import Bound, Bounds


MAX_VECTOR_POINTS = 1500
"""Up to so many points are drawn as shapes; more become one image."""
DOTS_AN_INCH = 150
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
            if len(points.get_offsets()) > MAX_VECTOR_POINTS:  # type: ignore[arg-type]
                points.set_rasterized(True)
        _make_printable(figure)
        made = BytesIO()
        figure.savefig(
            made, format="svg", dpi=DOTS_AN_INCH, bbox_inches="tight", pad_inches=0.06, metadata={"Date": None}
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


# Rows worth reading: the most confident errors, and the rows that are right by the least.

CASES_A_KIND = 10
"""Rows of each kind."""
PARTS_A_ROW = 5
"""Parts of the score that are shown for each row, before the sum of all others."""
INVISIBLE = 1e-9
"""The share of the largest part of a score below which its rounding is not worth a word."""
MAX_NAME_LETTERS = 160
"""Letters of the name of a row."""


@dataclass(frozen=True)
class Case:
    """A row worth reading."""

    row: int  # its number
    called: str  # its name, if it has one
    truth: str
    predicted: str
    lead: float | None  # by how much it is right; see `Subject.lead`
    parts: list[tuple[str, float]]  # of the score, as `rosenblatt.explain` names them
    favours: int  # the sign of what speaks for the prediction


@dataclass(frozen=True)
class Cases:
    """The rows worth reading, and the number of all errors."""

    wrong: list[Case]
    close: list[Case]
    n_wrong: int
    words: str
    unexplained: str  # why the parts of scores are not known; empty if they are


def cases_of(subject: Subject) -> Cases:
    """Return the rows worth reading."""
    wrong = subject.predicted != subject.batch.codes
    lead = subject.lead
    order = np.arange(len(wrong)) if lead is None else np.argsort(lead, kind="stable")
    worst = order[wrong[order]][:CASES_A_KIND]
    close = np.array([], np.int64) if lead is None else order[~wrong[order]][:CASES_A_KIND]
    return Cases(
        [_case(subject, i, lead) for i in worst.tolist()],
        [_case(subject, i, lead) for i in close.tolist()],
        int(wrong.sum()),
        subject.lead_words,
        subject.explainer if isinstance(subject.explainer, str) else "",
    )


def _case(subject: Subject, i: int, lead: Floats | None) -> Case:
    called = "" if subject.rows is None else " ".join(str(subject.rows[i]).split())
    labels = subject.labels
    return Case(
        subject.first + i,
        called if len(called) <= MAX_NAME_LETTERS else called[: MAX_NAME_LETTERS - 1] + "…",
        labels[subject.batch.codes[i]],
        labels[subject.predicted[i]],
        None if lead is None else float(lead[i]),
        *_spoke(subject, i),
    )


def _spoke(subject: Subject, i: int) -> tuple[list[tuple[str, float]], int]:
    """Return the largest parts of a score with the sum of the others, and the sign of what favours the label.

    The rounding of the sum is left out where no printed digit of another part would show it.
    """
    if isinstance(subject.explainer, str):
        return [], 1
    row = subject.batch.part(slice(i, i + 1))
    assert subject.decision is not None, "what has parts has scores"
    found = subject.explainer(subject.first + i, row, row, subject.decision[i : i + 1], subject.named)
    against = len(subject.labels) == 2 and int(subject.predicted[i]) != len(subject.labels) - 1
    parts = [(name, part) for name, *_, part in found.lines(PARTS_A_ROW)]
    if found.rounding and abs(found.rounding) < INVISIBLE * max(abs(part) for _, part in parts):
        del parts[-1]
    return parts, -1 if against else 1


# The boundary of a model in the plane, and its strongest features by name.

SHOWN_FEATURES = 20
"""Features shown for one hyperplane."""
OF_CLASS = 8
"""Features shown for each of several classes."""
MAX_BAR_CLASSES = 6
"""Up to so many classes are shown with bars; of more, the strongest features are listed."""
MOST_CLASSES = 60
"""The most classes that are listed."""


@dataclass(frozen=True)
class Weight:
    """A feature, its weight, and its effect: how far one standard deviation moves the score."""

    name: str
    weight: float
    effect: float
    share: float

    @property
    def towards(self) -> str:
        """The sign of the effect in words."""
        return "for" if self.effect > 0 else "against"


@dataclass(frozen=True)
class Looks:
    """The section about the weights."""

    boundary: Markup | None  # a picture of the plane, if there are two features
    # for each class with bars: its label, its strongest features and its bias
    groups: list[tuple[str, list[Weight], float]]
    listed: list[tuple[str, list[Weight]]]  # the same without bias for the classes that are listed
    left_out: int  # the number of other classes
    spread: bool  # whether features are ordered by their effect, or by their weight alone
    n_weights: int
    missing: str  # why there is nothing


def looks_of(subject: Subject) -> Looks:
    """Return the section about the weights of a model."""
    boundary = _boundary(subject)
    planes = subject.hyperplanes
    if planes is None:
        missing = "" if boundary is not None else f"{subject.kind} has no weights in the features given."
        return Looks(boundary, [], [], 0, False, 0, missing)
    W, b = planes
    used = np.flatnonzero(W.any(axis=0))  # few of the features, where words are hashed
    W, spreads = W[:, used], _spreads(subject)
    spread = bool(np.isfinite(spreads).all() and (spreads[used] * np.abs(W).max(axis=0)).any())
    moved = W * spreads[used] if spread else W
    labels = subject.labels[-1:] if len(W) == 1 else subject.labels
    top = SHOWN_FEATURES if len(W) == 1 else OF_CLASS
    tops = [_strongest(subject, used, W[c], moved[c], top) for c in range(len(W))]
    shown = len(W) if len(W) <= MAX_BAR_CLASSES else 0  # many classes are all listed
    groups = [(labels[c], tops[c], float(b[c])) for c in range(shown)]
    listed = [(labels[c], tops[c]) for c in range(shown, min(len(W), MOST_CLASSES))]
    left_out = max(0, len(W) - MOST_CLASSES)
    return Looks(boundary, groups, listed, left_out, spread, len(used), "")


def _strongest(subject: Subject, used: Ints, w: Floats, moved: Floats, top: int) -> list[Weight]:
    order = np.lexsort((np.arange(len(w)), -np.abs(moved)))[:top]
    largest = float(np.abs(moved).max(initial=0.0)) or 1.0
    found = [
        Weight(subject.feature(int(used[j])), float(w[j]), float(moved[j]), abs(float(moved[j])) / largest)
        for j in order.tolist()
        if moved[j]
    ]
    return sorted(found, key=lambda each: -each.effect)


def _spreads(subject: Subject) -> Floats:
    """Return the standard deviation of each feature."""
    rows, n = subject.batch.rows, subject.batch.n_rows
    with np.errstate(over="ignore", invalid="ignore"):
        if not isinstance(rows, CSR):
            return np.asarray(rows.std(axis=0, dtype=np.float64))
        total, stored, square = np.zeros((3, subject.batch.n_features))
        for part in value_slices(rows):
            np.add.at(total, rows.indices[part], rows.data[part].astype(np.float64))
            np.add.at(stored, rows.indices[part], 1)
        mean = total / n
        for part in value_slices(rows):
            columns = rows.indices[part]
            np.add.at(square, columns, (rows.data[part].astype(np.float64) - mean[columns]) ** 2)
        # Each zero that is not stored is as far from the mean as the mean is from 0.
        square += (n - stored) * mean**2
        return np.asarray(np.sqrt(square / n))


def _boundary(subject: Subject) -> Markup | None:
    from rosenblatt.plot import boundary, regions, style

    if subject.batch.n_features != PLANE or subject.pairwise:
        return None
    a, b = style.plane_names(subject.named)
    planes = subject.hyperplanes
    one = planes is not None and len(planes[0]) == 1 and len(subject.batch.classes) == PLANE
    draw = boundary if one else regions
    return picture(
        lambda ax: draw(subject.model, subject.X, subject.y, ax=ax, feature_names=(a, b)),
        (7.2, 4.2),
        "boundary",
        "The rows, and the class predicted at every place of the plane",
    )


# Training: how it ended, its learning curve, and its mistakes against every bound.

FAR_BOUND = 100
"""A bound so many times as large as the number of visits is called no help."""
MAX_LISTED_PASSES = 12
"""Up to so many passes their mistakes are listed."""

ENDINGS = {
    "separated": "A whole pass went by without a mistake.",
    "margin": "A whole pass went by without an update: every row reached the margin.",
    "inseparable": "Training ended because no hyperplane separates the rows, which is proved.",
    "plateau": "Training ended because it stopped improving.",
    "tol": "Training ended when tol was reached.",
    "max_iter": "Training ended at its limit of passes, max_iter, before it was done.",
    "max_time": "Training ended at its time limit, max_time, before it was done.",
    "validation": "Training ended when the error on validation rows stopped falling.",
    "cycle": "Training went in a cycle: the weights repeated, so no hyperplane separates the rows.",
    "interrupted": "Training was interrupted.",
    "stalled": "Training ended where floats allow no further progress.",
    "no_minimum": "The loss on these data has no minimum, so there is no best model.",
}


@dataclass(frozen=True)
class Training:
    """The section about training."""

    ending: str  # how it ended; empty if that is not known
    facts: list[tuple[str, str]]  # numbers by name
    curve: Markup | None = None  # the learning curve; `no_curve` says why there is none
    no_curve: str = ""
    bounds: Bounds | None = None  # the mistakes against every bound; `no_bounds` says why there are none
    no_bounds: str = ""
    picture: Markup | None = None  # the bounds as a picture
    said: str = ""  # the best bound in words

    @property
    def applying(self) -> list[Bound]:
        """The bounds that apply to the run."""
        return [] if self.bounds is None else [each for each in self.bounds.values() if each.applies]

    @property
    def others(self) -> list[Bound]:
        """The bounds that do not."""
        return [] if self.bounds is None else [each for each in self.bounds.values() if not each.applies]


def training_of(subject: Subject, clock: Clock) -> Training:
    """Return the section about the training of a model."""
    curve, no_curve = _curve(subject)
    found, no_bounds = _bounds(subject, clock)
    drawn = None if found is None else _bounds_picture(subject, found)
    ended = ending(subject.model) + _apart(subject)
    said = "" if found is None else best_bound(found, getattr(subject.model, "t_", None))
    return Training(ended, _facts(subject.model), curve, no_curve, found, no_bounds, drawn, said)


def best_bound(found: Bounds, visits: int | None = None) -> str:
    """Return what the bounds say of the mistakes of a run, in a few sentences; each visit makes at most one.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> X, y = rb.datasets.load_six_points()
    >>> best_bound(rb.bounds(X, y, model=rb.Perceptron().fit(X, y)), 12)
    'Training made 3 mistakes in 12 visits to rows. However long it is, and in any order, it makes at most 31 \
(Zhang 2024, from margin, bias as a feature).'
    """
    shown = [each for each in found.values() if each.limits == "mistakes" and each.observed is not None]
    shown = sorted((each for each in shown if each.applies and each.value < inf), key=lambda each: each.value)
    if not shown:
        return ""
    made = int(shown[0].observed or 0)
    many = f"Training made {made:,} mistake{'s' * (made != 1)}" + (
        f" in {visits:,} visits to rows" if visits else ""
    )
    any_run = [each for each in shown if not each.name.startswith(("rounds_", "a_priori", "passive_losses"))]
    best = (any_run or shown)[0]
    limit, source = floor(best.value), f"({best.author}, from {best.title})"
    far = visits is not None and limit >= FAR_BOUND * visits
    if any_run:
        told = f"However long it is, and in any order, it makes at most {in_words(limit)} {source}."
        why = " That is no help in practice: the margin is tiny beside the length of the rows."
    else:
        known = "Knowing which rows they were on" if best.name.startswith("rounds_") else "In so many visits"
        told = f"{known}, there could be at most {in_words(limit)} {source}. "
        told += "No hyperplane separates the rows, so no number holds however long training is."
        why = " That is no help in practice: many rows are far on the wrong side of every hyperplane."
    return f"{many}. {told}{why * far}"


def in_words(count: int) -> str:
    """Return a whole number; one of more than nine digits as a power of ten.

    Examples
    --------
    >>> in_words(31), in_words(1234567), in_words(14459300000000000)
    ('31', '1,234,567', 'about 10¹⁶')
    """
    if count < 10**9:
        return f"{count:,}"
    power = str(len(str(count)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"about 10{power}"


def _apart(subject: Subject) -> str:
    """Return what separates the training rows, if it is not what predicts and that is wrong on some of them."""
    apart = getattr(subject.model, "_separated_by", None)
    separated = getattr(subject.model, "stop_reason_", None) == "separated"
    found = subject.evaluation
    if apart is None or not separated or not subject.of_training or found.n_right == found.n_rows:
        return ""
    by, predicts = apart
    said = f"{predicts[0].upper()}{predicts[1:]}"
    return f" That is by {by}. {said}, used to predict, got {found.n_right:,} of {found.n_rows:,} rows right."


def ending(model: Any) -> str:
    """Return how training ended, in a sentence.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> ending(rb.Perceptron().fit(*rb.datasets.load_or()))
    'A whole pass went by without a mistake.'
    """
    reason = getattr(model, "stop_reason_", None)
    if reason is not None:
        return ENDINGS.get(reason, f"Training ended by {reason!r}.")
    if hasattr(model, "margin_"):
        return "This is the widest of all hyperplanes that separate the training rows."
    visits = getattr(model, "t_", None)
    return "" if visits is None else f"It learned from a stream, one visit to each of {visits:,} rows."


def _facts(model: Any) -> list[tuple[str, str]]:
    known = {
        "n_iter_": "passes",
        "n_mistakes_": "mistakes in training",
        "t_": "visits to rows",
        "n_hypotheses_": "hypotheses that vote",
        "pocket_errors_": "errors of the hypothesis in the pocket",
        "support_": "rows kept by the kernel",
        "margin_": "margin γ",
        "objective_": "objective",
        "gap_": "relative gap to the widest" if hasattr(model, "margin_") else "gap to the least, at most",
        "loss_": "last loss",
    }
    values = [(name, getattr(model, attribute, None)) for attribute, name in known.items()]
    facts = [(name, _number(value)) for name, value in values if value is not None]
    counts = getattr(model, "mistakes_per_pass_", None)
    if counts is not None and 1 < len(counts) <= MAX_LISTED_PASSES:
        facts.append(("mistakes of each pass", ", ".join(f"{count:,}" for count in counts.tolist())))
    elif counts is not None and len(counts) > MAX_LISTED_PASSES:
        last, least = int(counts[-1]), int(counts.min())
        first_least = int(np.argmin(counts)) + 1
        facts.append(("mistakes of the last pass", f"{last:,}"))
        facts.append(("fewest mistakes of a pass", f"{least:,}, in pass {first_least:,}"))
    return facts


def _number(value: Any) -> str:
    value = len(value) if np.ndim(value) else value
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{float(value):.6g}"


def _curve(subject: Subject) -> tuple[Markup | None, str]:
    from rosenblatt.plot import learning_curve

    curve = getattr(subject.model, "curve_", None)
    if curve is None:
        counts = getattr(subject.model, "mistakes_per_pass_", None)
        if counts is None or not len(counts):
            return None, f"{subject.kind} is not trained in passes, so it has no learning curve."
        visits = getattr(subject.model, "t_", 0)
        if len(counts) < 2 or not visits:
            return None, "One pass was made, so there is no curve to draw."
        rate = counts / (visits / len(counts))
        curve = SimpleNamespace(passes=np.arange(1, len(counts) + 1), training=rate, validation=None, best=None)
    if len(curve.passes) < 2:
        return None, "One pass was made, so there is no curve to draw."
    held = "" if curve.validation is None else ", and on validation rows"
    described = f"Share of mistakes in each of {len(curve.passes)} passes{held}"
    return picture(lambda ax: learning_curve(curve, ax=ax), (6.4, 3.2), "curve", described), ""


def _bounds(subject: Subject, clock: Clock) -> tuple[Bounds | None, str]:
    from rosenblatt.theory.bounds import bounds

    if getattr(subject.model, "mistakes_per_pass_", None) is None:
        return None, f"The bounds are on mistakes made in training; {subject.kind} does not learn by mistakes."
    if hasattr(subject.model, "kernel"):
        return None, "The bounds are for hyperplanes in the features given, not in the space of a kernel."
    if subject.hyperplanes is None and not hasattr(subject.model, "n_hypotheses_"):
        return None, f"The bounds are for hyperplanes in the features given; {subject.kind} has none there."
    if not hasattr(subject.model, "trace_"):
        return None, "The model has no trace of its run, so its mistakes cannot be compared with the bounds."
    if len(subject.batch.classes) != 2:
        return None, f"The bounds are for two classes; this model has {len(subject.batch.classes)}."
    if subject.dear:
        return None, f"The bounds need margins. {subject.dear}"
    if subject.seen == "unknown":
        return None, "The bounds are for the training rows of a model, and it is not known whether these are."
    if subject.of_training is False:
        return None, "The bounds are for the training rows of a model, and these are other rows."
    try:
        return bounds(subject.as_trained, subject.y, model=subject.model, time_limit=_left(clock)), ""
    except (UndecidedError, InputError) as error:  # such as the trace of other rows
        return None, str(error)


def _bounds_picture(subject: Subject, found: Bounds) -> Markup | None:
    from rosenblatt.plot import bounds as draw

    shown = [each for each in found.values() if each.limits == "mistakes" and each.observed]
    if not any(each.applies and each.value < inf for each in shown):
        return None
    return picture(
        lambda ax: draw(subject.model, subject.as_trained, subject.y, ax=ax, found=found),
        (8.4, 3.4),
        "bounds",
        "Mistakes of the run below the bounds that apply to it",
    )


MAX_VALUES_READ = 2 * 10**9
"""Several classes are not certified if that would read more values than this."""
MAX_TABLE_CLASSES = 24
"""Up to so many classes the page has a table of their pairs."""
MAX_EMBEDDED_LETTERS = 48 * 1024
"""A proof of up to so many letters is part of the page."""


@dataclass(frozen=True)
class Separability:
    """The section about separability."""

    verdict: str = ""  # "separable", "inseparable", "undecided", or empty if nothing was certified
    text: str = ""  # the certificate in words
    checked: str = ""  # the result of the check of the proof; empty without a proof
    holds: bool = False  # whether the proof holds for these rows
    labels: list[str] = field(default_factory=list)  # the classes, if there are more than two
    # for several classes: yes, no or ? for each pair, and for each against the rest; empty for too many
    table: list[list[str]] = field(default_factory=list)
    picture: Markup | None = None  # why the classes are separable, or why not
    json: str = ""  # the proof, if it is short; `size` is its length
    size: int = 0
    notes: list[str] = field(default_factory=list)  # further remarks
    space: Separability | None = None  # the same in the space of a kernel

    @property
    def words(self) -> str:
        """The words after the verdict."""
        if self.verdict == "undecided":
            return "in the time allowed"
        if not self.holds:
            return "says a proof that does not hold"
        who = "every two classes" if self.verdict == "separable" else "some two classes"
        return f"{who if self.labels else 'by a hyperplane'}; proved, and checked"


def separability_of(subject: Subject, given: Certificate | None, clock: Clock) -> Separability:
    """Decide whether the rows are separable, as far as time allows, or check the given certificate."""
    if given is not None:
        return _told(subject, given, [])
    space = _in_space(subject, clock) if hasattr(subject.model, "coordinates") else None
    if space is not None and subject.pairwise:
        note = "The rows are kernel values, so separability is decided in the kernel's space."
        return Separability(notes=[note], space=space)
    K = len(subject.batch.classes)
    if K > 2 and subject.batch.stored * (2 * K - 1) > MAX_VALUES_READ:
        pairs = K * (K - 1) // 2
        note = f"Whether the {pairs:,} pairs of classes are separable was not decided: it would take too long."
        return Separability(notes=[note], space=space)
    notes: list[str] = []
    try:
        with _noted(notes):
            found = _certified(subject, clock)
    except InputError as error:
        return Separability(notes=[str(error)], space=space)
    return _told(subject, found, notes, space)


def _certified(subject: Subject, clock: Clock) -> Certificate:
    from rosenblatt.certify.separability import certify

    params = subject.model.get_params(deep=False)
    bias = bool(params.get("fit_intercept", True)) and params.get("bias", "unit") not in (None, 0)
    asked: dict[str, Any] = {"bias": bias, "guess": _guess(subject)}
    found = certify(subject.X, subject.y, time_limit=_left(clock), **asked)
    if isinstance(found, Separable) and any(found.w) and not subject.dear:
        left = _left(clock)
        some = None if left is None else left / 3  # the bounds need time for margins as well
        wider = certify(subject.X, subject.y, margin=True, time_limit=some, **asked)
        found = wider if isinstance(wider, Separable) else found
    return found


def _guess(subject: Subject) -> Any:
    """Return the hyperplane of the model, to be tried first, if the rows have both classes."""
    planes = subject.hyperplanes
    both = len(set(subject.batch.codes.tolist())) == len(subject.batch.classes) == 2
    return planes[0][0] if planes is not None and both and len(planes[0]) == 1 else None


def _told(
    subject: Subject, found: Certificate, notes: list[str], space: Separability | None = None
) -> Separability:
    """Check a certificate, and present it in words, tables and pictures."""
    if subject.named is not None:
        found = found.renamed(subject.named)
    checked, holds = _checked(found, subject.X, subject.y)
    labels, table = _table(found) if isinstance(found, ClassTables) else ([], [])
    try:
        proof = found.to_json()
    except UndecidedError:
        proof = ""
    return Separability(
        verdict=found.verdict,
        text=found.reason if isinstance(found, ClassTables) else str(found),
        checked=checked,
        holds=holds,
        labels=labels,
        table=table,
        picture=_picture(subject, found) if holds else None,
        json=proof if len(proof) <= MAX_EMBEDDED_LETTERS else "",
        size=len(proof),
        notes=notes,
        space=space,
    )


def _checked(found: Certificate, X: MatrixLike, y: ColumnLike) -> tuple[str, bool]:
    """Check every proof; return the result in words, and whether all hold."""
    decided = decided_among(found) if isinstance(found, ClassTables) else found
    count = len(list(decided)) if isinstance(decided, ClassTables) else int(found.verdict != "undecided")
    if not count:
        return "", False
    verified = decided.verify(X, y)
    if not verified:
        return verified.reason, False
    if count == 1:
        return "The proof was checked on these rows, in exact arithmetic: it holds.", True
    return f"All {count} proofs were checked on these rows, in exact arithmetic: they hold.", True


def _table(tables: ClassTables) -> tuple[list[str], list[list[str]]]:
    labels = [str(label) for label in tables.rest]
    if len(labels) > MAX_TABLE_CLASSES:
        return labels, []
    cells = {}
    for (a, b), each in tables.pairs.items():
        cells[str(a), str(b)] = cells[str(b), str(a)] = MARKS[each.verdict]
    rest = {str(label): MARKS[each.verdict] for label, each in tables.rest.items()}
    return labels, [[*(cells.get((a, b), "") for b in labels), rest[a]] for a in labels]


def _picture(subject: Subject, found: Certificate) -> Markup | None:
    from rosenblatt.plot import certificate, style

    if isinstance(found, ClassTables):
        return None
    names = None
    if subject.batch.n_features <= PLANE and subject.named is not None:
        names = [style.plain(name) for name in subject.named]
    size = (6.8, 4.0 if subject.batch.n_features == PLANE else 2.4)
    try:
        return picture(
            lambda ax: certificate(found, subject.X, subject.y, ax=ax, feature_names=names),
            size,
            "proof",
            f"Why the classes are {found.verdict}",
        )
    except InputError:
        return None  # this proof has no picture


def _in_space(subject: Subject, clock: Clock) -> Separability | None:
    """Decide the same in the space of the model's kernel, unless that is linear."""
    if subject.hyperplanes is not None:
        return None
    notes: list[str] = []
    try:
        with _noted(notes):
            found = subject.model.certify(subject.X, subject.y, time_limit=_left(clock))
            Z = subject.model.coordinates(subject.X)
    except InputError as error:
        return Separability(notes=[str(error)])
    checked, holds = _checked(found, Z, subject.y)
    return Separability(found.verdict, str(found), checked, holds, notes=notes)


def _left(clock: Clock) -> float | None:
    return None if clock.left is None else max(clock.left, 0.0)


@contextmanager
def _noted(notes: list[str]) -> Iterator[None]:
    """Collect the warnings of `certify` as notes of the page."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrivialSeparationWarning)
        yield
    for each in caught:
        if not issubclass(each.category, TrivialSeparationWarning):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        elif str(each.message) not in notes:
            notes.append(str(each.message))
