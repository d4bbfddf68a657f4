"""The lifted perceptron as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

from rosenblatt.data.batch import as_batch
from rosenblatt.estimators._fitting import conclude, planned, published, whole
from rosenblatt.estimators._linear import VisitingClassifier, warn_of_column
from rosenblatt.estimators._parameters import check_count, check_number, check_parameters, with_fixed
from rosenblatt.estimators.schemas import BATCH, facts, hyperplane_state
from rosenblatt.exceptions import ParameterError
from rosenblatt.interrupts import interruptible
from rosenblatt.learners.lifted import fit_lifted, require_every_row
from rosenblatt.registry import Learner
from rosenblatt.schema.codecs import Array

NO_LIMIT = 2**62


class LiftedPerceptron(VisitingClassifier):
    """The perceptron on rows lifted by one coordinate each, which always separate; two classes.

    Row i becomes [a x_i; sqrt(1 − a²) e_i]. In exact arithmetic training on such rows ends without a mistake,
    after at most `mistake_bound_` of them; the first coordinates of the weights then predict. It is a soft margin:
    what a row lacks is made up by its own coordinate, at a price. No lifted row is ever made: one number a row is
    kept.

    Parameters
    ----------
    a : float
        How much the features count against each row's own coordinate, between 0 and 1. The smaller, the sooner it
        ends and the softer the margin. Exact data is trained exactly where a² is a dyadic fraction, as for 0.5.
    fit_intercept, bias, radius, zero, random_state
        As in `Perceptron`. The bias is a feature that is lifted like the others.
    order : {"shuffle", "cyclic"} or array
        The order of visits. An array of row numbers holds every row.
    max_iter : int or None
        The most passes; None sets no limit. Small features need few; see the notes on large ones.
    max_time, trace, callbacks
        As in `Perceptron`.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (1, n_features) and (1,)
        The first coordinates of the lifted weights, without their common factor a.
    lift_ : ndarray, shape (n_rows,)
        The weights of the rows' own coordinates, without their common factor sqrt(1 − a²): y times the mistakes on
        each row.
    lifted_margin_ : float
        The geometric margin of the lifted rows under the lifted weights.
    lemma_margin_ : float
        γ', the margin that the lemma guarantees, at its best: a γ / sqrt(1 + a²/(1 − a²) Σ l_i²), where
        l_i = max(0, γ − y_i <w*, x_i>), over unit vectors w* and γ > 0. It is sought for a second or as long as
        training took, within `max_time`; what is found by then holds as well.
    mistake_bound_ : float
        (a²R² + 1 − a²) / γ'²: the mistakes are no more. R is the largest norm of a row, the bias included.
    converged_ : bool
        Whether the lifted rows are separated. Rows may still be wrong by the first coordinates alone.
    stop_reason_, n_iter_, n_mistakes_, mistakes_per_pass_, trace_, curve_, t_, classes_
        As in `Perceptron`; the scores in the trace are f(x), and ``trace_.replay(X, y)`` leads to `coef_`.

    Notes
    -----
    There is no `partial_fit`: a row met again must be known to be the same one. That training ends is a theorem of
    exact arithmetic, and its bound grows with the square of the largest norm: where features are large it allows
    more mistakes than anyone will wait for, and where a row's own coordinate is lost in rounding beside them
    training may not end at all. Scale such features down.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> X, y = load_xor()
    >>> clf = LiftedPerceptron(order="cyclic").fit(X, y)
    >>> clf.stop_reason_, clf.n_mistakes_, round(clf.mistake_bound_, 6)
    ('separated', 4, 8.0)
    """

    _learner = Learner(
        hyperplane_state(BATCH | facts("lifted_margin_", "lemma_margin_", "mistake_bound_") | {"lift_": Array()}),
        commands={"lifted": {}},
        abilities=frozenset({"linear", "traces", "onnx"}),
    )

    def __init__(
        self,
        *,
        a: float = 0.5,
        fit_intercept: bool = True,
        bias: Any = "unit",
        radius: float | None = None,
        zero: Any = -1,
        order: Any = "shuffle",
        max_iter: int | None = 10_000,
        max_time: float | None = None,
        random_state: Any = 0,
        trace: Any = "auto",
        callbacks: Any = None,
    ) -> None:
        self.a = a
        self.fit_intercept = fit_intercept
        self.bias = bias
        self.radius = radius
        self.zero = zero
        self.order = order
        self.max_iter = max_iter
        self.max_time = max_time
        self.random_state = random_state
        self.trace = trace
        self.callbacks = callbacks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Train until the lifted rows are separated, or a limit is reached; two classes.

        X and y are as in `Perceptron.fit`. An error leaves the estimator unchanged; Ctrl-C leaves the last
        completed pass.
        """
        with interruptible():
            p = with_fixed(self)
            p.n_iter_no_change = NO_LIMIT  # a plateau is not an end: the rows will be separated
            p.max_iter = NO_LIMIT if self.max_iter is None else check_count("max_iter", self.max_iter)
            check_parameters(p)
            a = check_number("a", self.a, above=0, below=1)
            if not 0.0 < a * a < 1.0:
                raise ParameterError(
                    f"a={self.a!r} has a square that is 0 or 1 among floats. Move it away from there."
                )
            warn_of_column(y)
            batch = as_batch(X, y)
            batch.require_classes()
            batch.signs  # noqa: B018 - refuses more than two classes
            blocks = whole(batch)
            with planned(p, blocks) as (plan, start, _):
                require_every_row(plan.order)
                found = fit_lifted(batch, plan, start, a)
            run = found.run
            self.__dict__.update(
                published(p, run, blocks),
                lift_=found.lift,
                lifted_margin_=found.margin,
                lemma_margin_=found.lemma_margin,
                mistake_bound_=found.bound,
            )
            conclude(
                p,
                run,
                "without separating the lifted rows",
                f"Scale the features, or raise {{limit}}; the bound allows {found.bound:,.4g} mistakes.",
            )
            return self
