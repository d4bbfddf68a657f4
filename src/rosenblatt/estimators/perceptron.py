"""The perceptron as a scikit-learn classifier, and a base of those that also correct rows on their right side."""

from __future__ import annotations

from sklearn.base import BaseEstimator, ClassifierMixin

from rosenblatt.estimators.perceptron_core import OwnRuleCore, PerceptronCore


class Perceptron(PerceptronCore, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron, with every convention of the literature by name, and every end of training explained.

    Takes all parameters of scikit-learn's ``Perceptron``, with the same meaning but for "l1" penalties, and more.
    By default training continues until a pass makes no mistake, until it is proved that none ever will, or without
    such a proof until mistakes stop falling; `max_iter` limits it. `stop_reason_` says why it ended.

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


class OwnRule(OwnRuleCore, Perceptron):
    """A perceptron by another rule. Subclasses have parameters of their own, and override `_own_rule`."""
