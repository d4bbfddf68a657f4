"""The perceptron without scikit-learn, whose import takes longer and more memory than training on a small file."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.estimators._fitting import (
    Before,
    Drawn,
    Keeping,
    check_penalty,
    conclude,
    keeping,
    make_plan,
    open_run,
    require_possible,
    require_same_problem,
    visitor_of,
    whole,
)
from rosenblatt.estimators._linear import OnlineLearning, perceptron_state, warn_of_column
from rosenblatt.exceptions import Given, LabelError, ParameterError, PredictionOverflowError, Remedy, Term
from rosenblatt.learning.checkpoint import restore
from rosenblatt.learning.fit_loop import PerceptronFit
from rosenblatt.learning.linear import LinearModel
from rosenblatt.learning.plan import PerceptronRun, Plan, Prove
from rosenblatt.learning.state import State, fold_state
from rosenblatt.loops.rules import Passive, Rule
from rosenblatt.parameters import (
    COMBINATION,
    Declared,
    OwnRuleParameters,
    PassiveParameters,
    PerceptronParameters,
    contradiction,
    learned,
    unknown_name,
)
from rosenblatt.registry import built_in, class_of, name_of
from rosenblatt.rooms import find
from rosenblatt.rows.batch import Batch, as_batch, require_two
from rosenblatt.rows.features import read_only
from rosenblatt.stopping import interruptible
from rosenblatt.tables.blocks import Blocks
from rosenblatt.threads import using
from rosenblatt.typing import ColumnLike, Floats, Ints, MatrixLike

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate


# What a fit asks when its mistakes no longer fall: whether it can end without one.

WORK_A_NUMBER = 100.0  # the work of one exact number in an answer


def may_ask(p: Any, plan: Plan, start: State) -> bool:
    """Return whether an answer would be about a fit with parameters `p`.

    An average does not become better by separating the rows, and `tol` and `early_stopping` end by themselves.
    A bias that is there but never moves is neither a bias nor none.
    """
    fixed_bias = plan.rule.beta == 0.0 and bool(start.w[..., -1].any())
    fits = p.tie in ("mistake", "half") and p.penalty is None and plan.order.complete and not fixed_bias
    others = p.average or p.stop_on_cycle or p.tol is not None or p.early_stopping
    return bool(p.decide and fits and not others)


def ask(blocks: Blocks, plan: Plan, weight: Floats, work: float, model: LinearModel | None) -> Certificate | None:
    """Decide whether some hyperplanes are right on all rows that have weight; None if the work is not enough."""
    from rosenblatt.certify.verdict import verdict

    kind, k = plan.scheme.kind, len(blocks.classes)
    questions = {"ovr": k, "ovo": k * (k - 1) // 2}.get(kind, 1)
    if questions > 1 and work < WORK_A_NUMBER * blocks.n_features * questions:
        return None  # the answers alone, a vector for each question, would be too much
    batch = replace(blocks.unscaled(), weight=weight)
    scores = None
    if model is not None and blocks.whole is not None:
        with suppress(PredictionOverflowError):  # then no rows are tried before others
            scores = model.scores(blocks.whole)
    try:
        return verdict(
            batch,
            bias=plan.rule.beta > 0.0,
            multiclass="direct" if kind == "binary" else kind,
            work=work,
            scores=scores,
        )
    except LabelError:
        return None  # a proof could not tell these labels apart


class PerceptronCore(PerceptronParameters, OnlineLearning):
    """The parameters and the training of `rosenblatt.Perceptron`."""

    _keeps_bytes = True
    _reached = "without separating the data"
    _learner = built_in("Perceptron", perceptron_state())

    def fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
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
            Those of ``rosenblatt.open_data(…).blocks()``; see `rosenblatt.tables.file_source.Source.blocks`.
        checkpoint : path or None
            A file for the state of training, written after passes and every minute within long ones. It stays
            after the end; `rosenblatt.learning.checkpoint.discard` removes it once the model is saved. Only its
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
        >>> from rosenblatt import Perceptron
        >>> from rosenblatt.rows.batch import as_batch
        >>> from rosenblatt.datasets import load_or
        >>> from rosenblatt.tables.blocks import MemoryBlocks
        >>> blocks = MemoryBlocks(as_batch(*load_or()))
        >>> Perceptron(order="cyclic").fit_blocks(blocks).coef_
        array([[2., 2.]])
        """
        with interruptible(), using(self.n_jobs):
            self._check_parameters()
            with keeping(checkpoint, every, resume) as kept:
                return self._train(blocks, kept=kept)

    @property
    def certificate_(self) -> Certificate | None:
        """The proof that ended the last fit, made when it is first looked at; None if there is none.

        With 500 features that takes seconds. Of a model from a file whose proof was not made before, it is the
        verdict in floats; `rosenblatt.certify` makes the proof from the data.
        """
        if "certificate_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'certificate_'")
        found: Certificate | None = self.__dict__["certificate_"]
        if (proof := getattr(found, "known", None)) is not None:
            found = self.__dict__["certificate_"] = proof
        return found

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_penalty(self)

    def _train(
        self,
        blocks: Blocks,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        kept: Keeping | None = None,
    ) -> Self:
        """Train on rows wherever they are; publish the result and say how training ended."""
        require_two(blocks.classes)
        before = self._before(blocks, coef_init, intercept_init)
        scaling = blocks.scaling
        require_possible(self, blocks, kept is not None, before, scaling is not None)
        keeper, saved = open_run(self, blocks, kept)
        redrawn = None if saved is None else Drawn(saved.seed, saved.held_out)
        with make_plan(self, blocks, coef_init, intercept_init, before, redrawn, sparse=True) as planned_fit:
            plan, start, drawn = planned_fit
            if self.stop_on_cycle and blocks.whole is not None:
                plan = replace(plan, prove=self._prover(blocks.whole, start))
            if blocks.whole is not None and may_ask(self, plan, start):
                plan = replace(plan, ask=partial(ask, blocks, plan))
            if keeper is not None:
                keeper.seed, keeper.held_out = drawn.seed, drawn.held_out

            def begin() -> PerceptronFit:
                loop = PerceptronFit(visitor_of(blocks, plan, start.copy()), start, keeper)
                if saved is not None:
                    restore(loop, saved)
                return loop

            if self.device == "cpu":
                run: PerceptronRun = begin().run()
            else:
                fit_machines = find("probes.fitting").fit_machines
                run = fit_machines(self.device, blocks, plan, start, keeper, lambda: begin().run())
        if scaling is not None:
            run = replace(run, state=fold_state(run.state, scaling))
        drawn = drawn._replace(passes=drawn.passes + len(run.mistakes_per_pass))
        self._publish(run, blocks, _drawn=drawn, certificate_=run.proof)
        conclude(self, run, self._reached, rows=blocks, best=bool(self.average), stacklevel=4)
        return self

    def _prover(self, batch: Batch, start: State) -> Prove:
        """Return what makes a proof of a repeated state.

        A bias that is there but never moves makes other hyperplanes possible than those through the origin, so
        that only a sum that is zero for any bias proves anything.
        """
        if self.penalty is not None:
            why = ", because weights that shrink with every visit prove nothing by a repeat"
            raise contradiction(Given("stop_on_cycle", True), Given("penalty", self.penalty), why)
        if len(batch.classes) > 2:
            raise ParameterError(
                Given("stop_on_cycle", True)
                + " proves that two classes cannot be separated, but "
                + Term("target", "y")
                + f" has {len(batch.classes)}. Use "
                + Remedy("stop_on_cycle", False)
                + " and ask "
                + Term("certify", "rosenblatt.certify(X, y)")
                + ", which decides every pair of classes."
            )
        from rosenblatt.certify.verdict import witness

        return partial(witness, batch, bias=self._has_bias() or bool(start.w[-1] != 0.0))

    def _before(
        self, blocks: Blocks, coef_init: ArrayLike | None, intercept_init: ArrayLike | None
    ) -> Before | None:
        """Return the last run, if this fit is to continue it."""
        if not self.warm_start or not self.__sklearn_is_fitted__() or coef_init is not None:
            return None
        if intercept_init is not None:
            told = Given("intercept_init") + " without coef_init contradicts " + Given("warm_start", True)
            raise ParameterError(told + ". Give both or none.", code=COMBINATION)
        require_same_problem(self, blocks, self._scheme)
        state = self._state.narrowed(self._width).for_rule(average=self.average, shrinks=self.penalty is not None)
        return state, self.__dict__.get("_drawn")


class OwnRuleCore(OwnRuleParameters, PerceptronCore):
    """A perceptron by another rule, which counts mistakes (y f ≤ 0) and updates (y f below the margin) apart."""

    _reached = "before every row reached the margin"
    _fit_wrong: list[int] = learned()

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


class PassiveCore(PassiveParameters, OwnRuleCore):
    """The parameters and the training of `rosenblatt.PassiveAggressiveClassifier`."""

    _learner = built_in("PassiveAggressiveClassifier", perceptron_state(Passive))

    def _own_rule(self, rule: Rule) -> Passive:
        C = float(self.C)
        most, soft = (C, 0.0) if self.loss == "hinge" else (math.inf, 1.0 / (2.0 * C))
        return Passive(*rule, most, soft)


class BareParameters(Declared):
    """Parameters by name, in place of scikit-learn's `BaseEstimator`; `estimator` returns one that has it."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, sorted by name."""
        return {name: getattr(self, name) for name in sorted(type(self)._declared)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters."""
        unknown = params.keys() - self.get_params()
        if unknown:
            raise unknown_name(min(unknown), min(unknown), "is not a parameter", self.get_params())
        self.__dict__.update(params)
        return self

    def estimator(self) -> Any:
        """Return the scikit-learn estimator with the same parameters and the same training."""
        cls = class_of(name_of(self))
        made = cls.__new__(cls)
        made.__dict__.update(self.__dict__)
        return made


class BarePerceptron(PerceptronCore, BareParameters):
    """A perceptron that trains and predicts without scikit-learn."""


class BarePassive(PassiveCore, BareParameters):
    """A passive-aggressive classifier that trains and predicts without scikit-learn."""
