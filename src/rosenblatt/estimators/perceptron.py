"""The perceptron as a scikit-learn classifier, and a base of those that also correct rows on their right side."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.estimators.perceptron_core import PerceptronCore
from rosenblatt.learning.plan import PerceptronRun
from rosenblatt.rows.reals import read_only
from rosenblatt.tables.blocks import Blocks
from rosenblatt.typing import Ints


class Perceptron(PerceptronCore, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron, with every convention of the literature by name, and every end of training explained.

    Takes all parameters of scikit-learn's ``Perceptron``, with the same meaning but for "l1" penalties, and more.
    By default training continues until a pass makes no mistake, until it is proved that none ever will, or without
    such a proof until mistakes stop falling; `max_iter` limits it. `stop_reason_` says why it ended.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None
        Shrink the weights (not the bias) with every visit. "l2" multiplies them by 1 − η·alpha before the update,
        as in scikit-learn. "l1" moves them by η·alpha towards zero after it; there what is owed at zero adds up.
        "elasticnet" does both, in the shares 1 − l1_ratio and l1_ratio. A penalty cannot be combined with
        averaging.
    alpha, l1_ratio : float
        The strength of the penalty, and the share of "l1" in "elasticnet".
    fit_intercept : bool
        False means ``bias=None``.
    max_iter : int
        The maximum number of passes over the data.
    tol : float or None
        If given, training ends when the mean loss of a pass has not fallen by `tol` for `n_iter_no_change` passes
        (None means 5), as in scikit-learn. It then does not end on a plateau of mistakes, and no proof is sought.
    shuffle : bool
        False means ``order="cyclic"``.
    verbose : int
        1 shows a progress bar, and prints how training ended to standard error.
    eta0 : float
        The learning rate η.
    n_jobs : int or None
        The number of threads, −1 for all cores. They share the hyperplanes of "ovr" and "ovo", and the rows to
        predict; the bits are the same. None means ROSENBLATT_THREADS, or one.
    random_state : int, RandomState, Generator or None
        The random seed for the order, the start and the held-out rows.
    early_stopping : bool
        Whether to hold out `validation_fraction` of each class. Training ends when their error has not fallen for
        `n_iter_no_change` passes, by default the larger of 10 and half of the passes so far, and not on a plateau
        of mistakes. The best hypothesis by this error is returned.
    validation_fraction : float
        The share of rows to hold out.
    n_iter_no_change : int or None
        How many passes may go by before the mistakes of a pass fall by 2 %. Then an average ends on a plateau, and
        any other fit asks whether the rows can be separated (see `decide`). None means 5 passes. Without an
        answer, training ends after that number of passes if one is given. With None it ends on a trend: the
        mistakes of the second half of all passes are not 5 % fewer than those of the quarter before, three times
        in a row.
    class_weight : dict, "balanced" or None
        Multiplies the step of each class. "balanced" is n / (classes · count of the class); in a stream, of what
        it has seen so far.
    warm_start : bool
        Whether to continue from the last fit, as if it had not ended: weights, averaging and random order.
    bias : {"unit", "radius"}, float or None
        The change of the bias in each update, for a step of 1: 1, R², this number, or no bias.
    radius : float or None
        R, the largest norm of a row. None computes it from the data; a stream needs a number.
    zero : {-1, +1}
        The predicted side if f = 0; for several classes, whether the lowest or the highest class wins a tie.
    tie : {"mistake", "sign", "half", "correct"}
        How to treat y f = margin: as a mistake, as a mistake if sgn(0) = `zero` is not the label, as half a step,
        or as correct.
    init : {"zero", "random", "first"}
        The start: the origin, standard normal weights, or y₁x₁ of the first row visited.
    order : {"shuffle", "cyclic", "random"}, array, list of arrays or callable
        The order of visits in `fit`. An array of row numbers is one pass, repeated; a list of arrays,
        or a callable of the pass number from 1, gives each pass a different order.
    margin : float or pair of floats
        A visit is a mistake if y f ≤ margin. With ``multiclass="direct"`` the lead over the best other class
        counts. A pair (τ₊, τ₋) is for positive and negative rows (Li et al. 2002): (10, 0) helps a rare class.
    average : bool
        Whether to predict with the average of the hypotheses after each visit. Training ends when the mistakes no
        longer fall. It need not separate the rows, and gives no warning.
    multiclass : {"direct", "ovr", "ovo"}
        How to treat more than two classes. "direct" compares one weight vector for each class at each visit. "ovr"
        trains one hyperplane for each class against the rest, and "ovo" one for each pair of classes.
    max_time : float or None
        The maximum training time of `fit` in seconds.
    trace : {"auto", "mistakes", "counts"} or None
        What to record of a run. "auto" keeps the mistakes of a fit, up to half a million of them, or 1 for every
        320 values of X if that is more. Of a longer fit and of a stream it keeps counts. "mistakes" keeps every
        mistake.
    callbacks : sequence of callables or None
        Each is called after each pass with a `PassReport`; training ends if one returns True.
    stop_on_cycle : bool
        Whether to end when the weights after a pass equal those after an earlier pass, and the mistakes in between
        sum to zero in exact arithmetic. This proves that no hyperplane separates the data; `certificate_` is
        the proof. Two classes, without a penalty. It finds repeats within the last 65,536 passes and 16,777,216
        mistakes. No other proof is sought.
    decide : bool
        Whether to ask, when mistakes no longer fall, if some hyperplanes separate the rows (see
        `rosenblatt.certify`), with about as much work as the passes before. A proof that none do ends training. A
        proof that some do lets it continue with ten times the patience. It is asked where the answer is about this
        fit: rows in memory, tie "mistake" or "half", no penalty, an order that visits every row in each pass;
        without `average`, `tol`, `early_stopping` and `stop_on_cycle`. With False, small sets are visited until
        5·10⁸ values were read, before training may end on a plateau.

    Attributes
    ----------
    coef_, intercept_ : ndarray, shapes (n_machines, n_features) and (n_machines,)
        The hyperplanes: one for two classes; for K classes K of them, or K (K − 1) / 2 one against one.
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted. For two classes, the negative one is first.
    n_iter_ : int
        The number of passes of the last `fit`.
    n_mistakes_, mistakes_per_pass_, n_updates_ : int, ndarray, int
        The mistakes in total, and in each pass. Each is an update.
    converged_ : bool
        Whether the last hypothesis classifies every training row correctly; rows of weight 0 do not count.
    stop_reason_ : str
        "separated", "inseparable", "plateau", "tol", "max_iter", "max_time", "validation", "cycle", "interrupted".
    certificate_ : Inseparable, DirectInseparable, Separable, DirectSeparable or None
        After "inseparable" and "cycle", the proof that no hyperplane separates the data; of several classes, two
        sides that none separates, or a `DirectInseparable` if they are compared directly. After a plateau though
        some hyperplane separates the data, the proof of that. It is made when it is first looked at.
    trace_ : Trace
        The record of the run.
    curve_ : Curve
        Training and validation error over passes.
    t_ : int
        The number of visits since the start.
    n_features_in_, feature_names_in_
        The number of features, and their names if X had any.

    Examples
    --------
    >>> from rosenblatt.datasets import load_or
    >>> X, y = load_or()
    >>> clf = Perceptron(order="cyclic").fit(X, y)
    >>> clf.coef_, clf.intercept_, clf.n_mistakes_, clf.stop_reason_
    (array([[2., 2.]]), array([-1.]), 9, 'separated')
    """

    _learner = PerceptronCore._learner


class OwnRule(Perceptron):
    """A perceptron by another rule, which counts mistakes (y f ≤ 0) and updates (y f short of the margin) apart.

    Subclasses have parameters of their own, and override `_own_rule`. The parameters of `Perceptron` that they do
    not have are fixed here.
    """

    penalty = None
    alpha = 0.0001
    l1_ratio = 0.15
    eta0 = 1.0
    tie = "correct"
    margin = 1.0
    stop_on_cycle = False
    decide = False  # a proof of inseparability would not end the updates of such a rule
    _reached = "before every row reached the margin"
    _fit_wrong: list[int]

    @property
    def mistakes_per_pass_(self) -> Ints:
        """The mistakes of each pass, which are updates with y f ≤ 0; a stream is one pass."""
        self._require_fitted("mistakes_per_pass_")
        stream = [] if self._stream is None else [self._stream.wrong]
        return read_only(np.array([*self.__dict__.get("_fit_wrong", []), *stream], np.int64))

    @property
    def updates_per_pass_(self) -> Ints:
        """The updates of each pass; a stream is one pass."""
        return super().mistakes_per_pass_

    @property
    def n_updates_(self) -> int:
        """The number of updates so far."""
        return int(self.updates_per_pass_.sum())

    def _publish(self, run: PerceptronRun, blocks: Blocks, **own: Any) -> None:
        super()._publish(run, blocks, _fit_wrong=run.wrong_per_pass, **own)
