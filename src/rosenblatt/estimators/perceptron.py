"""The perceptron as a scikit-learn classifier."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Self

from rosenblatt.blocks.checkpoint import Checkpoint, restore
from rosenblatt.blocks.memory import Blocks, MemoryBlocks
from rosenblatt.blocks.scaled import folded
from rosenblatt.data.batch import Batch, as_batch, require_two
from rosenblatt.estimators._fitting import (
    Before,
    Drawn,
    conclude,
    identity_of,
    planned,
    require_possible,
    require_same_problem,
    resumed,
    visitor_of,
    whole,
)
from rosenblatt.estimators._linear import warn_of_column, warn_of_scales
from rosenblatt.estimators._online import OnlineLearning
from rosenblatt.estimators._parameters import check_count, check_flag, check_parameters
from rosenblatt.estimators.deciding import question
from rosenblatt.estimators.schemas import perceptron_state
from rosenblatt.exceptions import ParameterError
from rosenblatt.interrupts import interruptible
from rosenblatt.learners.cycles import Prove
from rosenblatt.learners.perceptron import PerceptronFit
from rosenblatt.locking import locked
from rosenblatt.model.state import State
from rosenblatt.registry import Learner
from rosenblatt.threads import using


class Perceptron(OnlineLearning):
    """The perceptron, with every convention of the literature by name, and every end of training explained.

    Takes all parameters of scikit-learn's ``Perceptron`` with the same meaning, and more. By default training
    continues until a pass makes no mistake, or until it is proved that none ever will; `stop_reason_` says why it
    ended.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None
        Shrink the weights (not the bias) with every visit, as scikit-learn does. "l2" multiplies them by
        1 − η·alpha before the update. "l1" moves them by η·alpha towards zero after it. "elasticnet" does both, in
        the shares 1 − l1_ratio and l1_ratio. A penalty cannot be combined with averaging.
    alpha, l1_ratio : float
        The strength of the penalty, and the share of "l1" in "elasticnet".
    fit_intercept : bool
        False means ``bias=None``.
    max_iter : int
        The maximum number of passes over the data.
    tol : float or None
        If given, training also ends when the mean loss of a pass has not fallen by `tol` for `n_iter_no_change`
        passes, as in scikit-learn. None there means 5 passes. Then no proof is sought.
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
        `n_iter_no_change` passes, by default the larger of 10 and half of the passes so far. The best hypothesis
        by this error is returned.
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
        Whether to ask once, when mistakes no longer fall, if some hyperplanes separate the rows (see
        `rosenblatt.certify`), with about as much work as the passes before. A proof that none do ends training. A
        proof that some do lets it continue up to `max_iter`. It is asked where the answer is about this fit: rows
        in memory, tie "mistake" or "half", no penalty, an order that visits every row in each pass; without
        `average`, `tol`, `early_stopping` and `stop_on_cycle`. With False, small sets are visited until 5·10⁸
        values were read, before training may end on a plateau.

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
    certificate_ : Inseparable or None
        After "inseparable" and "cycle", the proof that no hyperplane separates the data; of several classes, two
        sides that none separates.
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

    _keeps_bytes = True
    _reached = "without separating the data"
    _learner = Learner(
        perceptron_state(),
        commands={"averaged": {"average": True}, "perceptron": {}},
        abilities=frozenset({"streams", "examples", "blocks", "linear", "traces", "onnx"}),
    )

    def __init__(
        self,
        *,
        penalty: Any = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = None,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        bias: Any = "unit",
        radius: float | None = None,
        zero: Any = -1,
        tie: Any = "mistake",
        init: Any = "zero",
        order: Any = "shuffle",
        margin: float = 0.0,
        average: bool = False,
        multiclass: str = "direct",
        max_time: float | None = None,
        trace: Any = "auto",
        callbacks: Any = None,
        stop_on_cycle: bool = False,
        decide: bool = True,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.bias = bias
        self.radius = radius
        self.zero = zero
        self.tie = tie
        self.init = init
        self.order = order
        self.margin = margin
        self.average = average
        self.multiclass = multiclass
        self.max_time = max_time
        self.trace = trace
        self.callbacks = callbacks
        self.stop_on_cycle = stop_on_cycle
        self.decide = decide

    def fit(
        self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train until a stopping rule ends it; see `stop_reason_`.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe, shape (n_rows, n_features)
            The examples.
        y : sequence, shape (n_rows,)
            Their labels, of two classes or more.
        coef_init, intercept_init : array-like or None
            Initial weights with the shapes of `coef_` and `intercept_`, in place of `init`; one alone leaves the
            other at zero.
        sample_weight : array-like or None
            Multiplies the step of each row; a row of weight 0 makes no mistakes.

        Returns
        -------
        Perceptron
            The trained estimator. An error leaves it unchanged; Ctrl-C leaves the last completed pass.
        """
        with interruptible(), using(self.n_jobs):
            self._check_parameters()
            warn_of_column(y)
            batch = as_batch(X, y, sample_weight, keep_bytes=not self.stop_on_cycle)  # a proof reads floats
            warn_of_scales(batch)
            return self._train(whole(batch), coef_init, intercept_init)

    def fit_blocks(
        self,
        blocks: Blocks,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 1,
        resume: bool = False,
    ) -> Self:
        """Train on data that need not fit into memory.

        The result is that of `fit` with the same visits, bit for bit. ``order="shuffle"`` shuffles rows within
        their blocks, and from the second pass on the blocks; ``order="cyclic"`` is the order of the file. Where
        rows are not all in memory, other orders and `stop_on_cycle` are not possible, and mistakes are counted but
        not kept unless ``trace="mistakes"``. Held-out rows are read once more after each pass. Weights of scaled
        blocks are turned into weights of the original features.

        Parameters
        ----------
        blocks : Blocks
            See `rosenblatt.blocks.collect`.
        checkpoint : path or None
            A file for the state of training, written after passes and every minute within long ones. It stays
            after the end; `rosenblatt.blocks.checkpoint.discard` removes it once the model is saved. Only its
            owner can read it, and only one run at a time can use it.
        every : int
            The number of passes between checkpoints.
        resume : bool
            Whether to continue from the checkpoint if there is one. The result is that of an uninterrupted run,
            bit for bit. `max_iter` and `max_time` may be larger than before; time already used counts.

        Returns
        -------
        Perceptron
            The trained estimator. Ctrl-C leaves the last completed pass.

        Examples
        --------
        >>> from rosenblatt.data.batch import as_batch
        >>> from rosenblatt.datasets import load_or
        >>> from rosenblatt.blocks.memory import MemoryBlocks
        >>> blocks = MemoryBlocks(as_batch(*load_or()))
        >>> Perceptron(order="cyclic").fit_blocks(blocks).coef_
        array([[2., 2.]])
        """
        with interruptible(), using(self.n_jobs):
            self._check_parameters()
            check_flag("resume", resume)
            every = check_count("every", every)
            if checkpoint is None and resume:
                raise ParameterError("resume=True needs a checkpoint to continue from. Pass checkpoint=PATH.")
            with nullcontext() if checkpoint is None else locked(checkpoint):
                return self._train(blocks, checkpoint=checkpoint, every=every, resume=resume)

    def _check_parameters(self) -> None:
        check_parameters(self)
        check_flag("stop_on_cycle", self.stop_on_cycle)
        check_flag("decide", self.decide)

    def _train(
        self,
        blocks: Blocks,
        coef_init: Any = None,
        intercept_init: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 1,
        resume: bool = False,
    ) -> Self:
        """Train on rows wherever they are; publish the result and say how training ended."""
        require_two(blocks.classes)
        before = self._before(blocks, coef_init, intercept_init)
        scaling = blocks.scaling
        require_possible(self, blocks, checkpoint is not None, before, scaling is not None)
        keeper, saved = None, None
        if checkpoint is not None:
            keeper = Checkpoint(checkpoint, every, identity_of(self, blocks))
            saved = resumed(self, blocks, keeper) if resume else None
        redrawn = None if saved is None else Drawn(saved.seed, saved.held_out)
        with planned(self, blocks, coef_init, intercept_init, before, redrawn, sparse=True) as planned_fit:
            plan, start, drawn = planned_fit
            if self.stop_on_cycle and isinstance(blocks, MemoryBlocks):
                plan = replace(plan, prove=self._prover(blocks.batch, start))
            plan = replace(plan, ask=question(self, blocks, plan, start))
            if keeper is not None:
                keeper.seed, keeper.held_out = drawn.seed, drawn.held_out
            loop = PerceptronFit(visitor_of(blocks, plan, start.copy()), start, keeper)
            if saved is not None:
                restore(loop, saved)
            run = loop.run()
        if scaling is not None:
            run = replace(run, state=folded(run.state, scaling))
        drawn = drawn._replace(passes=drawn.passes + len(run.mistakes_per_pass))
        self._publish(run, blocks, _drawn=drawn, certificate_=run.proof)
        conclude(self, run, self._reached, best=self.average, stacklevel=4)
        return self

    def _prover(self, batch: Batch, start: State) -> Prove:
        """Return what makes a proof of a repeated state.

        A bias that is there but never moves makes other hyperplanes possible than those through the origin, so
        that only a sum that is zero for any bias proves anything.
        """
        if self.penalty is not None:
            raise ParameterError(
                f"stop_on_cycle=True cannot be combined with penalty={self.penalty!r}: weights that shrink with "
                "every visit prove nothing by a repeat. Drop one of them."
            )
        if len(batch.classes) > 2:
            raise ParameterError(
                "stop_on_cycle=True proves that two classes cannot be separated, but y has "
                f"{len(batch.classes)}. Set it to False and ask rosenblatt.certify(X, y), which decides "
                "every pair of classes."
            )
        from rosenblatt.certify.witness import witness

        return partial(witness, batch, bias=self._has_bias() or bool(start.w[-1] != 0.0))

    def _before(self, blocks: Blocks, coef_init: Any, intercept_init: Any) -> Before | None:
        """Return the last run, if this fit is to continue it."""
        if not self.warm_start or not self.__sklearn_is_fitted__() or coef_init is not None:
            return None
        if intercept_init is not None:
            raise ParameterError(
                "intercept_init without coef_init contradicts warm_start=True. Give both or none."
            )
        require_same_problem(self, blocks, self._scheme)
        state = self._state.narrowed(self._width).for_rule(average=self.average, shrinks=self.penalty is not None)
        return state, self.__dict__.get("_drawn")
