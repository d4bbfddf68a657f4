"""The lifted perceptron as a scikit-learn classifier."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from math import inf, sqrt
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.codecs import Array
from rosenblatt.estimators._features import MIN_SCALE_RATIO
from rosenblatt.estimators._fitting import conclude, make_plan, publish_attributes, whole
from rosenblatt.estimators._linear import BATCH, VisitingClassifier, facts, hyperplane_state, warn_of_column
from rosenblatt.exceptions import Given, OrderError, ParameterError
from rosenblatt.learning.fit_loop import PerceptronFit
from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.plan import PerceptronRun, Plan
from rosenblatt.learning.state import State
from rosenblatt.learning.trace import Stretch
from rosenblatt.learning.visitor import Visitor
from rosenblatt.loops.layout import Log, Sides
from rosenblatt.loops.order import Order, Visits
from rosenblatt.loops.passes import largest_square, train_lifted
from rosenblatt.loops.screen import Shadow
from rosenblatt.margins.softest import Limits, squared_hinge_minimum
from rosenblatt.parameters import RelatedParameters, fixed, param
from rosenblatt.registry import built_in
from rosenblatt.rows.batch import Batch, as_batch
from rosenblatt.rows.features import read_only
from rosenblatt.stopping import interruptible
from rosenblatt.typing import ColumnLike, Floats, MatrixLike

# The lifted perceptron: every row gets a coordinate of its own, so that any set separates.

LEMMA_SECONDS = 1.0
"""That the lemma may take, however short training was."""


class LiftedRun(NamedTuple):
    """A run on lifted rows, and what the lemma says of it."""

    run: PerceptronRun  # its state is the first d coordinates and the bias, without the factor a
    lift: Floats  # the weights of the rows' own coordinates, without the factor sqrt(1 − a²)
    margin: float  # the geometric margin of the lifted rows under the lifted weights
    lemma_margin: float  # γ', a margin that the lifted rows are sure to have under some weights
    bound: float  # the most mistakes, (a²R² + 1 − a²) / γ'²


def fit_lifted(batch: Batch, plan: Plan, start: State, a: float) -> LiftedRun:
    """Train on the lifted rows until they are separated, or a limit of `plan` is reached."""
    square = a * a
    visitor = LiftedVisitor(batch, plan, start.copy(), square)
    y = batch.signs.astype(np.float64)
    began = time.perf_counter()
    run = PerceptronFit(visitor, start).run()
    lift = visitor.lift_after(run.state.visits)
    margin = _margin(run, batch, y, lift, square)
    took = time.perf_counter() - began
    seconds = max(LEMMA_SECONDS, took)
    if plan.max_time is not None:
        seconds = min(seconds, plan.max_time - took)
    if run.interruption is not None:
        seconds = 0.0  # the user wants to leave
    lemma, bound, interruption = _lemma(batch, a, plan.rule.beta, seconds)
    if interruption is not None:  # what was trained is whole all the same, and published before this is raised
        run = replace(run, interruption=interruption)
    return LiftedRun(run, lift, margin, lemma, bound)


def require_every_row(order: Order) -> None:
    """Refuse an order that may leave rows out: a pass without a mistake is to mean that all rows are right."""
    if not order.complete:
        raise OrderError(
            "order must visit every row in every pass, so that the lifted rows are known to be separated. "
            "Use 'shuffle', 'cyclic' or an array that holds every row."
        )


def _margin(run: PerceptronRun, batch: Batch, y: Floats, lift: Floats, square: float) -> float:
    """Return min y_i <w̃, x̃_i> / ‖w̃‖."""
    model = LinearModel(run.state.w, run.trace.scheme, batch.classes)
    beta, w, b = run.trace.bias, run.state.w[:-1], float(run.state.w[-1])
    padded = float(w @ w) + (b * b / beta if beta > 0.0 else 0.0)  # the bias is the weight of a feature sqrt(β)
    norm = sqrt(square * padded + (1.0 - square) * float(lift @ lift))
    lowest = float((y * (square * model.scores(batch) + (1.0 - square) * lift)).min())
    return lowest / norm if norm > 0.0 else 0.0


def _lemma(batch: Batch, a: float, beta: float, seconds: float) -> tuple[float, float, KeyboardInterrupt | None]:
    """Return γ' for a good choice of w* and γ, the mistakes it allows, and the Ctrl-C that cut the choice short.

    With v = w*/γ it is a / sqrt(‖v‖² + a²/(1 − a²) Σ max(0, 1 − y_i <v, x_i>)²): any v gives a margin that holds,
    and so the best one found within some seconds does.
    """
    square = a * a
    C = square / (1.0 - square)
    value, interruption = C * batch.n_rows, None  # of v = 0
    try:
        largest = largest_square(batch.rows, batch.n_rows) + beta
        if seconds > 0.0:
            limits = Limits(tol=1e-11, max_time=seconds)
            found = squared_hinge_minimum(batch, C, pad=sqrt(beta), limits=limits)
            value, interruption = found.value, found.interruption
    except KeyboardInterrupt as caught:  # before anything was known
        return 0.0, inf, caught
    return a / sqrt(value), (square * largest + 1.0 - square) * value / square, interruption


class LiftedVisitor(Visitor):
    """Visits lifted rows."""

    may_screen = False

    def __init__(self, batch: Batch, plan: Plan, state: State, square: float) -> None:
        super().__init__(batch, plan, state)
        self._square = square
        self._lift = np.zeros(batch.n_rows)
        self._before = self.state.visits, self._lift  # when the present pass began

    def visit(self, visits: Visits, made: int = 0) -> Iterator[Stretch]:
        """Make the visits of a pass; yield each stretch once it is made."""
        self._before = self.state.visits, self._lift.copy()
        yield from super().visit(visits, made)

    def _train(self, block: Visits, log: Log, shadow: Shadow | None) -> tuple[int, int, int]:
        assert isinstance(self.targets, Sides), "lifted rows have two sides"
        k, made = train_lifted(
            self.X, self.targets, block, self._square, self.plan.rule.beta, self.state.w, self._lift, log
        )
        return k, made, made

    def lift_after(self, visits: int) -> Floats:
        """Return the weights of the rows' own coordinates after so many visits: now, or when the pass began."""
        return self._before[1] if self._before[0] == visits else self._lift


NO_LIMIT = 2**62


class LiftedPerceptron(
    RelatedParameters,
    VisitingClassifier,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    signature="a fit_intercept bias radius zero order max_iter max_time random_state trace callbacks verbose",
):
    """The perceptron on rows with one extra coordinate each, which are always separable; two classes.

    Row i becomes [a x_i; sqrt(1 − a²) e_i]. In exact arithmetic training on such rows ends without a mistake,
    after at most `mistake_bound_` mistakes; the first coordinates of the weights then predict. This is a soft
    margin: the extra coordinate of a row makes up for the margin that it lacks, at a price. Lifted rows are never
    stored, only one number for each row (Freund and Schapire 1999).

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (1, n_features) and (1,)
        The first coordinates of the lifted weights, without their common factor a.
    lift_ : ndarray, shape (n_rows,)
        The weights of the extra coordinates, without their common factor sqrt(1 − a²): y times the number of
        mistakes on each row.
    lifted_margin_ : float
        The geometric margin of the lifted rows under the lifted weights.
    lemma_margin_ : float
        γ', the largest margin that the lemma guarantees: a γ / sqrt(1 + a²/(1 − a²) Σ l_i²), maximised over unit
        vectors w* and γ > 0. Here l_i = max(0, γ − y_i <w*, x_i>). The search takes a second, or as
        long as training, within `max_time`; a value found early is also valid.
    mistake_bound_ : float
        (a²R² + 1 − a²) / γ'², an upper bound on the mistakes. R is the largest norm of a row, including the bias.
    converged_ : bool
        Whether the lifted rows are separated. Rows may still be wrong by the first coordinates alone.
    stop_reason_, n_iter_, n_mistakes_, mistakes_per_pass_, trace_, curve_, t_, classes_
        As in `Perceptron`; the scores in the trace are f(x), and ``trace_.replay(X, y)`` leads to `coef_`.

    Notes
    -----
    There is no `partial_fit`, because a repeated row must be recognised. Training ends in exact arithmetic, but
    the bound grows with the square of the largest norm. With large features training may take very long, or not
    end at all if rounding loses the extra coordinate. Scale such features down.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> X, y = load_xor()
    >>> clf = LiftedPerceptron(order="cyclic").fit(X, y)
    >>> clf.stop_reason_, clf.n_mistakes_, round(clf.mistake_bound_, 6)
    ('separated', 4, 8.0)
    """

    _learner = built_in(
        "LiftedPerceptron",
        hyperplane_state(BATCH | facts("lifted_margin_", "lemma_margin_", "mistake_bound_") | {"lift_": Array()}),
    )

    a: float = param(
        0.5,
        "The weight of the features relative to the extra coordinate, between 0 and 1. Smaller values end "
        "training sooner and make the margin softer. Exact data is trained exactly where a² is a dyadic "
        "fraction, as for 0.5.",
        above=0,
        below=1,
    )
    tie: Any = fixed("mistake")
    init: Any = fixed("zero")
    shuffle: bool = fixed(True)
    margin: float = fixed(0.0)
    eta0: float = fixed(1.0)
    class_weight: Any = fixed(None)
    multiclass: str = fixed("direct")
    tol: float | None = fixed(None)
    n_iter_no_change: int | None = fixed(NO_LIMIT)  # a plateau is not an end: the rows will be separated
    bias: Any = param("unit", more="The bias is a feature that is lifted like the others.")
    order: Any = param(
        "shuffle",
        "The order of visits. An array of row numbers holds every row.",
        kind='{"shuffle", "cyclic"} or array',
    )
    max_iter: int | None = param(  # type: ignore[assignment]
        10_000,
        "The maximum number of passes; None sets no limit. Small features need few; see the notes on large ones.",
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @property
    def _separated_by(self) -> tuple[str, str]:
        return "the lifted weights", "their first coordinates"

    def fit(self, X: MatrixLike, y: ColumnLike) -> Self:
        """Train until the lifted rows are separated, or a limit is reached; two classes.

        X and y are as in `Perceptron.fit`. An error leaves the estimator unchanged; Ctrl-C leaves the last
        completed pass.
        """
        with interruptible():
            self._check_parameters()
            p = self if self.max_iter is not None else type(self)(**self.get_params() | {"max_iter": NO_LIMIT})
            a = float(self.a)
            if not 0.0 < a * a < 1.0:
                raise ParameterError(
                    Given("a", self.a) + " has a square that is 0 or 1 among floats. Move it away from there."
                )
            warn_of_column(y)
            batch = as_batch(X, y)
            batch.require_classes()
            batch.signs  # noqa: B018 - refuses more than two classes
            blocks = whole(batch)
            with make_plan(p, blocks) as (plan, start, _):
                require_every_row(plan.order)
                found = fit_lifted(batch, plan, start, a)
            run = found.run
            self.__dict__.update(
                publish_attributes(p, run, blocks),
                lift_=read_only(found.lift),
                lifted_margin_=found.margin,
                lemma_margin_=found.lemma_margin,
                mistake_bound_=found.bound,
            )
            # A lifted row is (a x, √(1 − a²) e_i): a part that is much longer drowns the other.
            long = a * sqrt(largest_square(batch.rows, batch.n_rows)) > MIN_SCALE_RATIO * sqrt(1.0 - a * a)
            conclude(
                p,
                run,
                "without separating the lifted rows",
                f"{'Scale the features down, or raise' if long else 'Raise'} {{limit}}; the bound allows "
                f"{found.bound:,.4g} mistakes.",
                rows=blocks,
            )
            return self
