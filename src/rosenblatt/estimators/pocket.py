"""The pocket perceptron as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.data.batch import as_batch
from rosenblatt.estimators._fitting import conclude, planned, published, whole
from rosenblatt.estimators._linear import VisitingClassifier, warn_of_column, warn_of_scales
from rosenblatt.estimators._parameters import check_choice, check_flag, check_number, check_parameters, with_fixed
from rosenblatt.estimators.schemas import BATCH, facts, hyperplane_state
from rosenblatt.exceptions import ParameterError
from rosenblatt.interrupts import interruptible
from rosenblatt.learners.pocket import Counting, fit_pocket
from rosenblatt.model.linear import LinearModel
from rosenblatt.model.state import State
from rosenblatt.registry import Learner


class PocketPerceptron(VisitingClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron that keeps the best hypothesis it meets, for inseparable data (Gallant 1990).

    After each update the errors on all rows are counted. A hypothesis with fewer errors than any before goes into
    the pocket, and the pocket is the result: no hypothesis of the run has fewer training errors. The average of
    the hypotheses competes after each pass. Training ends when no row is wrong.

    Parameters
    ----------
    pocket_margin : float
        γ. With 0 a row is right if its label is predicted; with more, if its margin is at least γ.
    averages : bool
        Whether the average of all hypotheses so far is counted after each pass, too. On noisy data it usually
        makes the fewest errors. False leaves the algorithm as Gallant wrote it.
    count : {"geometric", "functional"}
        How margins are measured where γ > 0: as distances, y f / ‖w‖, or as they are, y f. More than two classes
        have functional ones only: the lead over the best rival.
    fit_intercept, bias, radius, zero, tie, init, order, shuffle, margin, eta0
        As in `Perceptron`. `margin` is for the mistakes in training; `pocket_margin` is for the pocket.
    class_weight : dict, "balanced" or None
        Multiplies the step of each class, and the weight of its errors.
    multiclass : {"direct", "ovr"}
        How more than two classes become hyperplanes.
    n_iter_no_change : int or None
        As in `Perceptron`, but no proof is sought. With None the data is visited until 5·10⁸ values were read,
        those that counting reads included. Then training ends when the mistakes of the second half of all passes
        are not 5 % fewer than those of the quarter before.
    max_iter, tol, max_time, random_state, verbose, trace, callbacks
        As in `Perceptron`; callbacks get the current hypothesis, not the pocket.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The hypothesis in the pocket.
    pocket_errors_ : float
        The number of rows that it classifies wrongly; with weights, their total weight.
    pocket_score_ : float
        The share of rows that it classifies correctly; with weights, the share of the weight.
    pocket_visit_ : int
        The visits made when it was found; 0 is the start.
    n_rows_counted_ : int
        The rows read to count errors; up to eight hypotheses that are counted together count a row once.
    converged_ : bool
        Whether every training row is classified correctly; rows of weight 0 do not count.
    stop_reason_, n_iter_, n_mistakes_, mistakes_per_pass_, trace_, curve_, t_, classes_
        As in `Perceptron`, of the whole run. The last pass may be cut short: training ends once no row is wrong.
        If the start makes no error, `n_iter_` is 0.

    Examples
    --------
    >>> from rosenblatt.datasets import load_xor
    >>> X, y = load_xor()
    >>> clf = PocketPerceptron(n_iter_no_change=20).fit(X, y)
    >>> clf.pocket_errors_, clf.pocket_score_, clf.stop_reason_
    (1.0, 0.75, 'plateau')
    """

    _learner = Learner(
        hyperplane_state(
            BATCH | facts("pocket_errors_", "pocket_score_", "pocket_visit_", "n_rows_counted_"),
        ),
        commands={"pocket": {}},
        abilities=frozenset({"linear", "traces", "onnx"}),
    )

    def __init__(
        self,
        *,
        pocket_margin: float = 0.0,
        count: str = "geometric",
        averages: bool = True,
        fit_intercept: bool = True,
        bias: Any = "unit",
        radius: float | None = None,
        zero: Any = -1,
        tie: Any = "mistake",
        init: Any = "zero",
        order: Any = "shuffle",
        shuffle: bool = True,
        margin: float = 0.0,
        eta0: float = 1.0,
        class_weight: Any = None,
        multiclass: str = "direct",
        max_iter: int = 1000,
        tol: float | None = None,
        n_iter_no_change: int | None = None,
        max_time: float | None = None,
        random_state: Any = 0,
        verbose: int = 0,
        trace: Any = "auto",
        callbacks: Any = None,
    ) -> None:
        self.pocket_margin = pocket_margin
        self.count = count
        self.averages = averages
        self.fit_intercept = fit_intercept
        self.bias = bias
        self.radius = radius
        self.zero = zero
        self.tie = tie
        self.init = init
        self.order = order
        self.shuffle = shuffle
        self.margin = margin
        self.eta0 = eta0
        self.class_weight = class_weight
        self.multiclass = multiclass
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose
        self.trace = trace
        self.callbacks = callbacks

    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train until a stopping rule ends it, and keep the best hypothesis; parameters as in `Perceptron.fit`.

        `sample_weight` also weighs the errors. An error leaves the estimator unchanged; Ctrl-C
        leaves the best of the completed passes.
        """
        with interruptible():
            p = with_fixed(self)
            check_parameters(p)
            check_choice("multiclass", p.multiclass, ("direct", "ovr"))
            check_choice("count", p.count, ("geometric", "functional"))
            check_flag("averages", p.averages)
            counting = Counting(check_number("pocket_margin", p.pocket_margin, least=0), p.count, p.averages)
            warn_of_column(y)
            batch = as_batch(X, y, sample_weight)
            warn_of_scales(batch)
            if counting.margin > 0 and counting.measure == "geometric" and len(batch.classes) > 2:
                raise ParameterError(
                    f"pocket_margin={self.pocket_margin!r} with count='geometric' is a distance from one "
                    f"hyperplane, but y has {len(batch.classes)} classes. "
                    "Use count='functional', or pocket_margin=0."
                )
            blocks = whole(batch)
            with planned(p, blocks, coef_init, intercept_init) as (plan, start, _):
                found = fit_pocket(batch, plan, start, counting)
            run, total = found.run, float(found.row_weight.sum())
            model = LinearModel(found.weights, run.trace.scheme, batch.classes, self.zero)
            right = (model.codes(batch) == batch.codes) | (found.row_weight == 0.0)
            self.__dict__.update(
                published(p, run, blocks)
                | {
                    "converged_": bool(right.all()),
                    "pocket_errors_": found.errors,
                    "pocket_score_": 1.0 - found.errors / total,
                    "pocket_visit_": found.visit,
                    "n_rows_counted_": found.rows_read,
                    "_state": State(found.weights, None, run.state.visits),
                }
            )
            conclude(p, run, best=True)
            return self
