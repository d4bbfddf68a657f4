"""The lifted perceptron as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin

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


class LiftedPerceptron(VisitingClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron on rows with one extra coordinate each, which are always separable; two classes.

    Row i becomes [a x_i; sqrt(1 − a²) e_i]. In exact arithmetic training on such rows ends without a mistake,
    after at most `mistake_bound_` mistakes; the first coordinates of the weights then predict. This is a soft
    margin: the extra coordinate of a row makes up for the margin that it lacks, at a price. Lifted rows are never
    stored, only one number for each row (Freund and Schapire 1999).

    Parameters
    ----------
    a : float
        The weight of the features relative to the extra coordinate, between 0 and 1. Smaller values end training
        sooner and make the margin softer. Exact data is trained exactly where a² is a dyadic fraction, as for 0.5.
    fit_intercept, bias, radius, zero, random_state
        As in `Perceptron`. The bias is a feature that is lifted like the others.
    order : {"shuffle", "cyclic"} or array
        The order of visits. An array of row numbers holds every row.
    max_iter : int or None
        The maximum number of passes; None sets no limit. Small features need few; see the notes on large ones.
    max_time, trace, callbacks
        As in `Perceptron`.

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
