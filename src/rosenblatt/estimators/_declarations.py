"""What perceptrons and their relatives are given: the parameters that more than one learner has.

This is read by the command line, so that it imports neither numpy nor scikit-learn.
"""

from __future__ import annotations

from typing import Any

from rosenblatt.exceptions import ParameterError
from rosenblatt.parameters import (
    POSITIVE,
    Declared,
    check_callbacks,
    check_choice,
    check_count,
    check_number,
    check_share,
    check_verbose,
    fixed,
    like,
    or_infinite,
    param,
)


def _check_bias(name: str, value: object) -> None:
    if value is None or isinstance(value, str | bool):
        check_choice(name, value, ("unit", "radius", None))
    else:
        check_number(name, value, least=0)


def _check_margin(name: str, value: object) -> None:
    if not isinstance(value, tuple | list):
        check_number(name, value, least=0)
        return
    if len(value) != 2:
        raise ParameterError(f"{name}={value!r} must be a number, or a pair: of positive and of negative rows.")
    for each in value:
        check_number(name, each, least=0)


def _check_average(name: str, value: object) -> None:
    if type(value).__name__ not in ("bool", "bool_"):
        check_count(name, value, least=0, most=MOST_VISITS_BEFORE)


MOST_VISITS_BEFORE = 10**12
"""Visits that an average may wait for; a record of a run holds as many."""


class PerceptronParameters(Declared):
    """The parameters of `rosenblatt.Perceptron`."""

    penalty: Any = param(
        None,
        'Shrink the weights (not the bias) with every visit. "l2" multiplies them by 1 − η·alpha before the '
        'update, as in scikit-learn. "l1" moves them by η·alpha towards zero after it; there what is owed at '
        'zero adds up. "elasticnet" does both, in the shares 1 − l1_ratio and l1_ratio. "l2" can be averaged; '
        "for weights that stop at zero, an exact average would touch all of them on every visit.",
        one_of=(None, "l2", "l1", "elasticnet"),
    )
    alpha: float = param(0.0001, "The strength of the penalty.", least=0)
    l1_ratio: float = param(0.15, 'The share of "l1" in "elasticnet".', check=check_share)
    fit_intercept: bool = param(True, "False means ``bias=None``.")
    max_iter: int = param(1000, "The maximum number of passes over the data.", help="Maximum number of passes.")
    tol: float | None = param(
        None,
        "If given, training ends when the mean loss of a pass has not fallen by `tol` for `n_iter_no_change` "
        "passes (None means 5), as in scikit-learn. It then does not end on a plateau of mistakes, and no proof "
        "is sought.",
        help="Stop by the loss, once it falls by less than X.",
    )
    shuffle: bool = param(True, 'False means ``order="cyclic"``.')
    verbose: int = param(
        0, "1 shows a progress bar, and prints how training ended to standard error.", check=check_verbose
    )
    eta0: float = param(1.0, "The learning rate η.", help="Learning rate η.", above=0)
    n_jobs: int | None = param(
        None,
        'The number of threads, −1 for all cores. They share the hyperplanes of "ovr" and "ovo", and the rows to '
        "predict; the bits are the same. None means ROSENBLATT_THREADS, or one.",
        check=None,
    )
    random_state: Any = param(
        0,
        "The random seed for the order, the start and the held-out rows.",
        kind="int, RandomState, Generator or None",
    )
    early_stopping: bool = param(
        False,
        "Whether to hold out `validation_fraction` of each class. Training ends when their error has not fallen "
        "for `n_iter_no_change` passes, by default the larger of 10 and half of the passes so far, and not on a "
        "plateau of mistakes. The best hypothesis by this error is returned.",
        help="Stop by the error on held-out rows.",
    )
    validation_fraction: float = param(0.1, "The share of rows to hold out.", above=0, below=1)
    n_iter_no_change: int | None = param(
        None,
        "How many passes may go by before the mistakes of a pass fall by 2 %. Then an average ends on a plateau, "
        "and any other fit asks whether the rows can be separated (see `decide`). None means 5 passes. Without "
        "an answer, training ends after that number of passes if one is given. With None it ends on a trend: the "
        "mistakes of the second half of all passes are not 5 % fewer than those of the quarter before, three "
        "times in a row.",
        help="Stop after N passes without progress.",
    )
    class_weight: Any = param(
        None,
        'Multiplies the step of each class. "balanced" is n / (classes · count of the class); in a stream, of '
        "what it has seen so far.",
        kind='dict, "balanced" or None',
        help="Weigh rare classes more.",
    )
    warm_start: bool = param(
        False,
        "Whether to continue from the last fit, as if it had not ended: weights, averaging and random order.",
    )
    bias: Any = param(
        "unit",
        "The change of the bias in each update, for a step of 1: 1, R², this number, or no bias.",
        kind='{"unit", "radius"}, float or None',
        check=_check_bias,
        help="Change of the bias by an update: 1, R², or none.",
    )
    radius: float | None = param(
        None, "R, the largest norm of a row. None computes it from the data; a stream needs a number.", above=0
    )
    zero: Any = param(
        -1,
        "The predicted side if f = 0; for several classes, whether the lowest or the highest class wins a tie.",
        kind="{-1, +1}",
        one_of=(-1, 1),
    )
    tie: Any = param(
        "mistake",
        "How to treat y f = margin: as a mistake, as a mistake if sgn(0) = `zero` is not the label, as half a "
        "step, or as correct.",
        one_of=("mistake", "sign", "half", "correct"),
    )
    init: Any = param(
        "zero",
        "The start: the origin, standard normal weights, or y₁x₁ of the first row visited.",
        one_of=("zero", "random", "first"),
    )
    order: Any = param(
        "shuffle",
        "The order of visits in `fit`. An array of row numbers is one pass, repeated; a list of arrays, or a "
        "callable of the pass number from 1, gives each pass a different order.",
        kind='{"shuffle", "cyclic", "random"}, array, list of arrays or callable',
        help="Order of the rows.",
    )
    margin: float = param(
        0.0,
        'A visit is a mistake if y f ≤ margin. With ``multiclass="direct"`` the lead over the best other class '
        "counts. A pair (τ₊, τ₋) is for positive and negative rows (Li et al. 2002): (10, 0) helps a rare class.",
        kind="float or pair of floats",
        check=_check_margin,
        help="Update if y·f is not greater than X.",
    )
    average: bool | int = param(
        False,
        "Whether to predict with the average of the hypotheses after each visit. Training ends when the mistakes "
        "no longer fall. It need not separate the rows, and gives no warning. A number such as 10 averages the "
        "hypotheses from the tenth visit on, as in scikit-learn; visits of all passes count. After fewer visits "
        "the weights are the last ones.",
        kind="bool or int",
        check=_check_average,
    )
    multiclass: str = param(
        "direct",
        'How to treat more than two classes. "direct" compares one weight vector for each class at each visit. '
        '"ovr" trains one hyperplane for each class against the rest, and "ovo" one for each pair of classes.',
        one_of=("direct", "ovr", "ovo"),
        help="Method for more than two classes.",
    )
    max_time: float | None = param(
        None, "The maximum training time of `fit` in seconds.", help="Maximum seconds of training.", above=0
    )
    trace: Any = param(
        "auto",
        'What to record of a run. "auto" keeps the mistakes of a fit, up to half a million of them, or 1 for '
        'every 320 values of X if that is more. Of a longer fit and of a stream it keeps counts. "mistakes" '
        "keeps every mistake.",
        one_of=("auto", "mistakes", "counts", None),
    )
    callbacks: Any = param(
        None,
        "Each is called after each pass with a `PassReport`; training ends if one returns True.",
        kind="sequence of callables or None",
        check=check_callbacks,
    )
    stop_on_cycle: bool = param(
        False,
        "Whether to end when the weights after a pass equal those after an earlier pass, and the mistakes in "
        "between sum to zero in exact arithmetic. This proves that no hyperplane separates the data; "
        "`certificate_` is the proof. Two classes, without a penalty. It finds repeats within the last 65,536 "
        "passes and 16,777,216 mistakes. No other proof is sought.",
    )
    decide: bool = param(
        True,
        "Whether to ask, when mistakes no longer fall, if some hyperplanes separate the rows (see "
        "`rosenblatt.certify`), with about as much work as the passes before. A proof that none do ends "
        "training. A proof that some do lets it continue with ten times the patience. It is asked where the "
        'answer is about this fit: rows in memory, tie "mistake" or "half", no penalty, an order that visits '
        "every row in each pass; without `average`, `tol`, `early_stopping` and `stop_on_cycle`. With False, "
        "small sets are visited until 5·10⁸ values were read, before training may end on a plateau.",
    )


class RelatedParameters(
    PerceptronParameters,
    signature="fit_intercept bias radius zero tie init order shuffle margin eta0 class_weight multiclass max_iter "
    "tol n_iter_no_change max_time random_state verbose trace callbacks",
):
    """The parameters of relatives of `rosenblatt.Perceptron` that train by its rule, and have no penalty."""

    penalty: Any = fixed(None)
    alpha: float = fixed(0.0001)
    l1_ratio: float = fixed(0.15)
    n_jobs: int | None = fixed(None)
    early_stopping: bool = fixed(False)
    validation_fraction: float = fixed(0.1)
    warm_start: bool = fixed(False)
    average: bool | int = fixed(False)
    stop_on_cycle: bool = fixed(False)
    decide: bool = fixed(False)


class OwnRuleParameters(
    PerceptronParameters,
    signature="fit_intercept max_iter tol early_stopping validation_fraction n_iter_no_change shuffle verbose "
    "n_jobs random_state warm_start class_weight average bias radius zero init order multiclass max_time trace "
    "callbacks",
):
    """The parameters of perceptrons by another rule. Those of a perceptron that they do not have are fixed."""

    penalty: Any = fixed(None)
    alpha: float = fixed(0.0001)
    l1_ratio: float = fixed(0.15)
    eta0: float = fixed(1.0)
    tie: Any = fixed("correct")
    margin: float = fixed(1.0)
    stop_on_cycle: bool = fixed(False)
    decide: bool = fixed(False)  # a proof of inseparability would not end the updates of such a rule
    n_iter_no_change: int | None = param(
        5,
        "How many passes may go by before the updates of a pass fall by 2 %; then training ends on a plateau.",
    )


class PassiveParameters(OwnRuleParameters):
    """The parameters of `rosenblatt.PassiveAggressiveClassifier`."""

    C: float = param(
        1.0,
        "The aggressiveness. ``math.inf`` is PA, which always takes the whole step.",
        check=or_infinite(POSITIVE),
    )
    loss: str = param(
        "hinge",
        '"hinge" is PA-I, with the step min(C, c). "squared_hinge" is PA-II, with x² + 1 / (2C) in place of x².',
        one_of=("hinge", "squared_hinge"),
    )
    eta0: float = like(
        PerceptronParameters,
        doc="Multiplies every step: the λ of the relaxation method. 1 goes to the margin, 2 as far beyond it.",
    )
    margin: float = param(
        1.0,
        "The margin that an update gives the row, in place of 1. With 0 the weights 0 are never corrected, so "
        "that a start is needed.",
        least=0,
    )
    tol: float | None = param(
        None,
        "If given, training ends when the mean loss of a pass, max(0, margin − y f), has not fallen by `tol` for "
        "`n_iter_no_change` passes, and not on a plateau.",
    )
    class_weight: Any = param(
        None,
        "Multiplies C for each class, as a sample weight does for each row: a row of weight m counts as one with "
        "the aggressiveness m C. With ``C=math.inf`` only weights of zero matter.",
    )
