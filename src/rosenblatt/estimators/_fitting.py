"""The fit of a perceptron and its relatives: from parameters and data to a plan, from the run to attributes."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.estimators._features import OTHERS, STANDARDISE, to_be_scaled
from rosenblatt.exceptions import (
    DataTypeError,
    Given,
    LabelError,
    ModelFileError,
    NonFiniteError,
    ParameterError,
    Remedy,
    ScaleWarning,
    ShapeError,
    Term,
    teller,
)
from rosenblatt.learning.checkpoint import Checkpoint, Saved
from rosenblatt.learning.linear import Scheme
from rosenblatt.learning.plan import PerceptronRun, Plan
from rosenblatt.learning.state import State, is_wide
from rosenblatt.learning.stream import Balance
from rosenblatt.learning.trace import Detail, Trace
from rosenblatt.learning.visitor import BlockVisitor, Visitor, hold_out
from rosenblatt.locking import hold_lock
from rosenblatt.loops.compilation import announce_compilation
from rosenblatt.loops.order import Blockwise, Order, make_order
from rosenblatt.loops.rules import Margins, Penalty, Rule, tie_shares
from rosenblatt.parameters import COMBINATION, check_count, check_flag, contradiction, is_kind
from rosenblatt.registry import name_of
from rosenblatt.rows.batch import Batch, label_weights, require_some_weight, require_two, weights_by_count
from rosenblatt.rows.labels import as_labels, list_classes
from rosenblatt.rows.memory import require_memory
from rosenblatt.tables.blocks import Blocks, MemoryBlocks
from rosenblatt.typing import Floats, Ints

MISTAKES_KEPT = 2**19
VALUES_A_MISTAKE = 320


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator that a scikit-learn `random_state` stands for."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    if random_state is None or (is_kind(random_state, Integral) and random_state >= 0):
        return np.random.default_rng(None if random_state is None else int(random_state))
    raise ParameterError(
        Given("random_state", random_state)
        + " must be None, a non-negative integer, a RandomState or a Generator."
    )


def require_cpu(device: str) -> None:
    """Require that a stream was not sent to a GPU."""
    if device == "cuda":
        raise ParameterError(
            Given("device", "cuda")
            + " trains by fit alone. Learn chunks and examples with "
            + Remedy("device", "cpu")
            + "."
        )


def check_penalty(p: Any) -> None:
    """Require that the penalty of a perceptron suits its other parameters."""
    if p.penalty is None:
        return
    penalty = make_penalty(p)
    if p.average and penalty.rent > 0.0:
        raise ParameterError(
            Given("penalty", p.penalty)
            + " cannot be combined with "
            + Given("average", p.average)
            + ": weights that stop at zero have no average that costs little. Use "
            + Remedy("penalty", "l2")
            + ", or SoftMarginClassifier(solver='sgd'), or drop one.",
            code=COMBINATION,
        )
    if penalty.keep <= 0.0:
        raise ParameterError(
            Given("alpha", p.alpha)
            + f" times eta0={p.eta0!r} is 1 or more, so that every visit would undo all before it. "
            "Lower one of them."
        )


def check_classes(classes: Any, or_else: str = " or None") -> NDArray[Any]:
    """Return the labels of an argument `classes`, sorted; `or_else` says what else it may be."""
    message = f"classes={classes!r} must be a list of labels{or_else}."
    if isinstance(classes, str):
        raise LabelError(message)
    try:
        labels = list(classes)
    except TypeError:
        raise LabelError(message) from None
    _, found = as_labels(labels, len(labels))
    if len(found) < 2:
        raise LabelError(f"classes={labels!r} must name at least two different classes.")
    return found


def require_same_classes(declared: NDArray[Any], known: NDArray[Any]) -> None:
    """Require the classes of the first call, in any order: labels that cannot be sorted keep the one they had."""
    if set(declared.tolist()) != set(known.tolist()):
        raise LabelError(
            f"classes={list_classes(declared)} is not the same as on last call to partial_fit: "
            f"{list_classes(known)}."
        )


def make_penalty(p: Any) -> Penalty:
    """Return how weights shrink with every visit: by scikit-learn's step η·α for its online rule."""
    l1_share = {"l2": 0.0, "l1": 1.0, "elasticnet": float(p.l1_ratio)}[p.penalty]
    step = float(p.eta0) * float(p.alpha)
    return Penalty(keep=1.0 - (1.0 - l1_share) * step, rent=l1_share * step)


def make_rule(
    p: Any, largest_square: Callable[[], float] | None, before: Trace | None = None
) -> tuple[Rule, float | None]:
    """Return the rule, and the radius R if it uses one: given, of the data, or of the run that went `before`."""
    bias = p.bias if p.fit_intercept else None
    radius = None
    match bias:
        case None:
            beta = 0.0
        case "unit":
            beta = 1.0
        case "radius":
            radius, beta = _radius(p.radius, largest_square, before)
        case _:
            beta = float(bias)
    uneven = isinstance(p.margin, tuple | list)
    plus, minus = map(float, p.margin) if uneven else (float(p.margin), 0.0)
    rule: Any = Rule(float(p.eta0), beta, plus, *tie_shares(p.tie, p.zero))
    return p._own_rule(Margins._make([*rule, minus]) if uneven else rule), radius


def _radius(
    given: float | None, largest_square: Callable[[], float] | None, before: Trace | None
) -> tuple[float, float]:
    """Return R and R²; of data R² is exact where sums are, and so is never made from R."""
    if given is None and largest_square is not None:
        square = largest_square()
        return float(np.sqrt(square)), square
    if given is None and before is not None and before.radius is not None:
        return before.radius, before.bias
    if given is None:
        raise ParameterError(
            Given("bias", "radius") + " needs R, the largest norm of a row, which is unknown in a stream. "
            "Pass radius=R, or use bias='unit'."
        )
    radius = float(given)
    square = radius * radius
    if not 0.0 < square < np.inf:
        raise ParameterError(Given("radius", radius) + " squared is beyond floats. Scale the features.")
    return radius, square


def resolve_order(p: Any, n_rows: int, seed: int, made: int) -> Order:
    """Return the order of visits; `shuffle=False` turns the default order into the cyclic one."""
    order = p.order
    if not p.shuffle and isinstance(order, str):
        if order == "random":
            raise contradiction(Given("order", "random"), Given("shuffle", False))
        order = "cyclic" if order == "shuffle" else order
    return make_order(order, n_rows, seed, made)


def detail(p: Any, *, stream: bool) -> Detail:
    """Return what to keep: by default the mistakes of a fit, but only the counts of a stream."""
    if p.trace == "auto":
        return "counts" if stream else "mistakes"
    kept: Detail = p.trace
    return kept


def most_mistakes(p: Any, n_values: int) -> int | None:
    """Return how many mistakes a fit on so many stored values keeps at most; None if there is no limit.

    A mistake takes up to 32 bytes, and as many again while parts of the record are joined. So by default the
    record takes at most 32 MB, or 2.5 % of larger data.
    """
    return max(MISTAKES_KEPT, n_values // VALUES_A_MISTAKE) if p.trace == "auto" else None


def stream_weights(p: Any, counts: dict[Any, int] | None = None) -> dict[Any, float] | Balance:
    """Return the class weights of a stream, label by label; "balanced" counts on from `counts` of a fit."""
    if p.class_weight is None:
        return {}
    if isinstance(p.class_weight, str) and p.class_weight == "balanced":
        return Balance(dict(counts or {}))
    weights = label_weights(p.class_weight)
    if len(weights) > 1:  # a label that is not named weighs 1
        require_some_weight(np.array([*weights.values()]))
    return weights


def start_from(p: Any, shape: tuple[int, ...], rng: np.random.Generator, *, sparse: bool = False) -> State:
    """Return the start that `init` names; "first" begins at zero and adds the first row later.

    A `sparse` start at zero gives weights only to the features that it meets.
    """
    random = p.init == "random"
    state = State.zero(shape, average=p.average, shrinks=p.penalty is not None, sparse=sparse and not random)
    if random:
        drawn = state.n_features + bool(p.fit_intercept and p.bias is not None)
        state.w[..., :drawn] = rng.standard_normal((*shape[:-1], drawn))
    return state


def read_start(
    p: Any, shape: tuple[int, ...], coef_init: ArrayLike | None, intercept_init: ArrayLike | None
) -> State:
    """Return the start that `coef_init` and `intercept_init` give; what is not given is zero."""
    state = State.zero(shape, average=p.average, shrinks=p.penalty is not None)
    if coef_init is not None:
        state.w[..., :-1] = _numbers("coef_init", coef_init, (*shape[:-1], shape[-1] - 1))
    if intercept_init is not None:
        state.w[..., -1] = _numbers("intercept_init", intercept_init, shape[:-1])
    return state


def _numbers(name: str, value: object, shape: tuple[int, ...]) -> Floats:
    size = math.prod(shape)
    try:
        numbers = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"{name}={value!r} must hold {size} numbers: one for each weight.") from None
    if numbers.size != size or (len(shape) > 1 and numbers.shape != shape):
        wanted = f"shape {shape}" if len(shape) > 1 else f"{size} values"
        raise ShapeError(f"{name} has shape {numbers.shape}, but {wanted} are needed: one for each weight.")
    if not np.isfinite(numbers).all():
        at = int(np.flatnonzero(~np.isfinite(numbers.reshape(-1)))[0])
        raise NonFiniteError(
            f"{name} holds {numbers.reshape(-1)[at]} at position {at}. Start from finite weights."
        )
    return numbers.reshape(shape)


# A progress bar for long fits.


def _mistakes(report: Any) -> str:
    return f"{report.mistakes:,} mistakes"


@contextmanager
def progress_bar(
    max_iter: int, title: str = "Perceptron", telling: Callable[[Any], str] = _mistakes, unit: str = "rows"
) -> Iterator[Callable[[Any], None]]:
    """Show passes, how well they went, and rate on standard error; yields the callback to feed with each pass.

    `telling` says of a report how well its pass went; `unit` is what is visited.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("passes"),
        TextColumn("{task.fields[told]}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    visits = 0
    console = Console(stderr=True)
    with Progress(*columns, console=console) as progress, announce_compilation(console.print):
        task = progress.add_task(title, total=max_iter, told="", rate="")

        def show(report: Any) -> None:
            nonlocal visits
            visits += report.visits
            rate = visits / max(report.seconds, 1e-9)
            progress.update(task, completed=report.epoch, told=telling(report), rate=f"{_short(rate)} {unit}/s")

        yield show


def _short(number: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


MAX_LISTED_ITEMS = 12
BYTES_A_ROW = 40  # that choosing rows to hold out takes
FREE_TO_CHANGE = {"max_iter", "max_time", "verbose", "n_jobs", "callbacks", "warm_start", "device"}
"""Parameters that do not change what a pass does, so that they may differ when a run resumes."""


class Drawn(NamedTuple):
    """What a run drew at random, for a fit that continues it."""

    seed: int
    held_out: Ints | None
    passes: int = 0

    def going_on(self, before: Drawn, n_rows: int) -> Drawn:
        """Return what the run `before` had drawn: its orders, and the rows held out if they still exist."""
        if self.held_out is None or before.held_out is None or before.held_out[-1] >= n_rows:
            return before._replace(held_out=self.held_out)
        return before


Before: TypeAlias = tuple[Any, Drawn | None]
"""The run that a warm start continues: its state, and what it drew, if that is known."""


def draw(p: Any, codes: Callable[[], Ints], n_rows: int, rng: np.random.Generator, before: Before | None) -> Drawn:
    """Draw rows to hold out and the seed of the order, or take those of the run before."""
    held_out = hold_out(codes(), p.validation_fraction, rng) if p.early_stopping else None
    drawn = Drawn(int(rng.integers(2**64, dtype=np.uint64)), held_out)
    return drawn if before is None or before[1] is None else drawn.going_on(before[1], n_rows)


def whole(batch: Batch) -> MemoryBlocks:
    """Return a batch as a single block, so that all of its rows are shuffled together."""
    return MemoryBlocks(batch, np.array([0, batch.n_rows]))


@contextmanager
def make_plan(
    p: Any,
    blocks: Blocks,
    coef_init: ArrayLike | None = None,
    intercept_init: ArrayLike | None = None,
    before: Before | None = None,
    redrawn: Drawn | None = None,
    sparse: bool = False,
) -> Iterator[tuple[Plan, State, Drawn]]:
    """Turn parameters and data into a plan, a start and what was drawn; train inside, under the progress bar.

    A start that is given, be it only its bias, replaces `init`, and so does the run `before`. What a checkpoint
    holds replaces what would be drawn, except for the start. A `sparse` start may give weights only to features
    that it meets, where there are very many.
    """
    require_two(blocks.classes)
    scheme = Scheme.of(p.multiclass, len(blocks.classes))
    rng = generator(p.random_state)
    shape = scheme.shape(blocks.n_features)
    given = coef_init is not None or intercept_init is not None
    if before is not None:
        start = before[0]
    elif given:
        start = read_start(p, shape, coef_init, intercept_init)
    else:
        stored = 0 if blocks.whole is None else blocks.stored
        start = start_from(p, shape, rng, sparse=sparse and is_wide(shape, stored))
    drawn = redrawn or draw(p, lambda: _codes(blocks), blocks.n_rows, rng, before)
    rule, radius = make_rule(p, blocks.largest_square)
    if isinstance(start, State):
        start = start.for_updates_by(rule)
    class_weight = None
    if p.class_weight is not None:  # to count the rows of each class all of them may have to be read
        class_weight = weights_by_count(p.class_weight, blocks.counts, blocks.classes)
    with progress_bar(p.max_iter) if p.verbose else nullcontext() as show:
        plan = Plan(
            rule=rule,
            order=_order(p, blocks, drawn),
            scheme=scheme,
            penalty=None if p.penalty is None else make_penalty(p),
            class_weight=class_weight,
            zero=p.zero,
            radius=radius,
            start_at_first=p.init == "first" and before is None and not given,
            max_iter=p.max_iter,
            max_time=p.max_time,
            tol=p.tol,
            patience=p.n_iter_no_change,
            brief=bool(p.average) and p.tol is None and drawn.held_out is None,
            held_out=drawn.held_out,
            trace=detail(p, stream=blocks.whole is None),
            most_mistakes=most_mistakes(p, blocks.stored),
            callbacks=[*([show] if show else []), *(p.callbacks or ())],
        )
        yield plan, start, drawn


def visitor_of(blocks: Blocks, plan: Plan, state: State) -> Visitor:
    """Return a visitor: of all rows if they are in memory, where the screen can skip most of the reading."""
    if blocks.whole is not None:
        return Visitor(blocks.whole, plan, state)
    return BlockVisitor(blocks, plan, state)


def _walk(blocks: Blocks) -> Iterator[Batch]:
    return blocks.walk(range(blocks.n_blocks)) if blocks.whole is None else iter([blocks.whole])


def _codes(blocks: Blocks) -> Ints:
    if blocks.whole is not None:
        return blocks.whole.codes
    way_out = "Set early_stopping=False, and validate apart."
    require_memory("Choosing rows to hold out", BYTES_A_ROW * blocks.n_rows, way_out)
    return np.concatenate([batch.codes for batch in _walk(blocks)])


def _order(p: Any, blocks: Blocks, drawn: Drawn) -> Order:
    together = blocks.whole is not None and blocks.n_blocks == 1
    if together or not isinstance(p.order, str) or p.order not in ("shuffle", "cyclic"):
        return resolve_order(p, blocks.n_rows, drawn.seed, drawn.passes)
    shuffles = p.order == "shuffle" and p.shuffle
    return Blockwise(blocks.boundaries, drawn.seed if shuffles else None, drawn.passes)


def require_possible(p: Any, blocks: Blocks, checkpoint: bool, before: Before | None, scaled: bool) -> None:
    """Refuse parameters that need all rows at once, or that a checkpoint does not hold."""
    named = isinstance(p.order, str)
    in_memory = blocks.whole is not None
    if not in_memory and not (named and p.order in ("shuffle", "cyclic")):
        raise ParameterError(
            Given("order", p.order if named else "...") + " needs all rows in memory. "
            "Out of core use 'shuffle' or 'cyclic'."
        )
    if not in_memory and p.stop_on_cycle:
        told = " needs all rows in memory. Use " + Remedy("stop_on_cycle", False) + "."
        raise ParameterError(Given("stop_on_cycle", True) + told)
    if checkpoint and p.stop_on_cycle:
        raise contradiction(Given("stop_on_cycle", True), Given("checkpoint"))
    if checkpoint and not named:
        raise contradiction(Given("checkpoint"), Given("order"), " given row by row")
    if checkpoint and before is not None:
        raise contradiction(Given("checkpoint"), Given("warm_start", True))
    if scaled and before is not None:
        raise ParameterError(
            Given("warm_start", True)
            + " cannot continue with scaled features: the weights are those of the original "
            "features. Set warm_start=False."
        )


class Keeping(NamedTuple):
    """The file that a fit keeps its state in, the passes between checkpoints, and whether to resume."""

    path: str | os.PathLike[str]
    every: int
    resume: bool


@contextmanager
def keeping(checkpoint: str | os.PathLike[str] | None, every: int, resume: bool) -> Iterator[Keeping | None]:
    """Check how a fit is to keep its state, and hold the lock of the file; yield None if it keeps none."""
    check_flag("resume", resume)
    every = check_count("every", every)
    if checkpoint is None and resume:
        raise ParameterError(
            Given("resume", True) + " needs a checkpoint. Name its file with " + Remedy("checkpoint") + "."
        )
    if checkpoint is None:
        yield None
        return
    with hold_lock(checkpoint):
        yield Keeping(checkpoint, every, resume)


def open_checkpoint(
    p: Any, kept: Keeping | None, data: Callable[[], str], kind: type[Checkpoint] = Checkpoint, **more: Any
) -> tuple[Any, Saved | None]:
    """Return what writes the checkpoints of a fit, and what the file holds if the fit is resumed; None for none.

    `data` returns a digest of the data, and `more` is what else must be the same.
    """
    if kept is None:
        return None, None
    checkpoint = kind(kept.path, kept.every, identity_of(p, data()) | more)
    saved = checkpoint.read() if kept.resume else None
    if saved is not None and (passes := len(saved.snapshot.visits_per_pass)) > p.max_iter:
        raise ParameterError(
            Given("max_iter", p.max_iter)
            + f" has been passed already: the checkpoint {checkpoint.path} is of pass {passes}. Allow more, or "
            "train from the beginning."
        )
    return checkpoint, saved


def identity_of(p: Any, data: str) -> dict[str, Any]:
    """Return what must be the same for a fit to go on from a checkpoint; `data` is a digest."""
    try:
        release = version("rosenblatt")
    except PackageNotFoundError:
        release = "unknown"
    values = {name: value for name, value in p.get_params(deep=False).items() if name not in FREE_TO_CHANGE}
    if not isinstance(values.get("random_state"), int | np.integer):
        values.pop("random_state", None)  # what was drawn is in the checkpoint
    shown = {name: repr(value) for name, value in values.items()}
    return {"version": release, "learner": name_of(p), "parameters": shown, "data": data}


def open_run(
    p: Any, blocks: Blocks, kept: Keeping | None, kind: type[Checkpoint] = Checkpoint, **more: Any
) -> tuple[Any, Saved | None]:
    """Return the checkpoint of a fit on labelled rows, as `open_checkpoint` does; require that it fits them."""
    checkpoint, saved = open_checkpoint(p, kept, lambda: blocks.identity, kind, **more)
    if saved is None:
        return checkpoint, None
    rows = saved.held_out
    fits = rows is None or (rows.size and 0 <= rows[0] and rows[-1] < blocks.n_rows and (np.diff(rows) > 0).all())
    if not fits or (rows is None) == p.early_stopping:
        raise ModelFileError(f"The checkpoint {checkpoint.path} holds out other rows. Remove it, and train again.")
    mistakes = saved.snapshot.mistakes
    if mistakes is not None and not (mistakes.index < blocks.n_rows).all():
        raise ModelFileError(
            f"The checkpoint {checkpoint.path} has mistakes beyond the last row. Remove it, and train again."
        )
    return checkpoint, saved


def require_same_problem(p: Any, data: Batch | Blocks, scheme: Scheme) -> None:
    """Require data with the features and classes of the run that a warm start continues, by the same scheme."""
    if Scheme.of(p.multiclass, len(p.classes_)) != scheme:
        raise ParameterError(
            Given("multiclass", p.multiclass) + f" cannot continue from {scheme.kind!r}. Set warm_start=False."
        )
    require_same_data(data.n_features, data.classes, p.n_features_in_, p.classes_)


def require_same_data(
    n_features: int, classes: NDArray[Any] | None, width: int, known: NDArray[Any] | None
) -> None:
    """Require the features and classes of the run that a warm start continues; None are no classes."""
    if n_features != width:
        raise ShapeError(
            f"X has {n_features} features, but warm_start=True continues from {width}. "
            "Pass the same features, or set warm_start=False."
        )
    if classes is not None and known is not None and not np.array_equal(classes, known):
        raise LabelError(
            f"y has the classes {list_classes(classes)}, but warm_start=True continues from "
            f"{list_classes(known)}. Pass the same classes, or set warm_start=False."
        )


def publish_attributes(p: Any, run: PerceptronRun, blocks: Blocks) -> dict[str, Any]:
    """Return the attributes that every estimator with parameters `p` has after a run.

    The caller sets them all at once, so that Ctrl-C cannot leave half of them.
    """
    return {
        "n_iter_": len(run.mistakes_per_pass),
        "converged_": run.converged,
        "stop_reason_": run.stop_reason,
        "curve_": run.curve,
        "_state": run.state,
        "_scheme": run.trace.scheme,
        "_width": blocks.n_features,
        "_classes": blocks.classes,
        "_zero": p.zero,
        "_names": blocks.names,
        "_class_counts": dict(zip(blocks.classes.tolist(), blocks.seen_counts.tolist(), strict=True)),
        "_fit_counts": run.mistakes_per_pass,
        "_trace": run.trace,
        "_traced": p.trace is not None,
        "_untraced": None,
        "_sparse_coef": False,
    }


def conclude(
    p: Any,
    run: PerceptronRun,
    reached: str = "without separating the data",
    advice: str = "Allow more {amount}.",
    *,
    rows: Blocks | None = None,
    best: bool = False,
    stacklevel: int = 3,
) -> None:
    """Warn where a published run ended without success, and raise the Ctrl-C that ended it.

    `reached` says where the limit left the run. In `advice`, "{amount}" becomes "passes" or "time", and "{limit}"
    the name of the parameter. If columns of `rows` should be scaled, that is the advice instead. `best` says that
    the result is the best that a run of this length gives, whether it separates the data or not, so that there is
    nothing else to warn of: an average, a vote, or the pocket.
    """
    counts = run.mistakes_per_pass
    last = f"The last pass made {counts[-1]:,} mistakes on {run.trace.n_rows:,} rows." if counts else ""
    if p.verbose:
        summary = f"Ended by {run.stop_reason!r}: {len(counts):,} passes, {sum(counts):,} mistakes."
        print(summary, last, file=sys.stderr)
    failed = not run.converged and run.interruption is None
    bias = run.trace.bias if run.separable else 0.0
    columns = to_be_scaled(rows, bias) if rows is not None and failed else None
    warning = _warning(p, run, reached, "" if columns else advice, last)
    if warning and (not best or run.stop_reason == "cycle"):
        warn_of_end(warning, stacklevel=stacklevel)
    if columns is not None:
        warnings.warn(
            f"Training has not separated the rows, and {columns}. " + STANDARDISE,
            ScaleWarning,
            stacklevel=stacklevel,
        )
    if run.interruption is not None:
        raise run.interruption


def warn_of_end(message: str, *, stacklevel: int = 2) -> None:
    """Warn by scikit-learn's ``ConvergenceWarning`` that training ended without success; see `told_by`."""
    if (tell := teller.get()) is not None:
        tell(message)
        return
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel + 1)


def _warning(p: Any, run: PerceptronRun, reached: str, advice: str, last: str) -> str | None:
    """Return what to say of a run that ended on a limit."""
    made = len(run.mistakes_per_pass)
    if run.stuck and p.tie == "correct":
        return (
            f"{run.stuck} rows lie exactly on the hyperplane and are predicted wrong, but tie={p.tie!r} "
            "never corrects them. Use tie='mistake', or another start."
        )
    if run.stuck and run.trace.scheme.kind == "ovo":
        return (
            f"Every pair of classes is separated, yet {run.stuck} rows are predicted wrong: the sum of scores "
            "over all pairs favours another class. Use " + Remedy("multiclass", "direct") + "."
        )
    if run.stuck:
        return (
            f"{run.stuck} rows are wrong, but the order never visits them, and those it visits are right. "
            "Let it visit every row."
        )
    which = "hyperplane through the origin" if run.proof is not None and not run.proof.bias else "hyperplane"
    if run.stop_reason == "inseparable":
        return (
            f"{_impossible(run, which)} ("
            + Term("proved", "proved: see certificate_")
            + "). The last weights are those after the last mistake; "
            + OTHERS
            + " suit such data."
        )
    if run.stop_reason == "plateau" and run.separable:
        text = (
            f"Training ended {reached}, because mistakes no longer fall. Some hyperplane does separate it "
            f"({_proved(run)}). {last}"
        )  # without advice, columns are to be scaled
        return text + " Set " + Remedy("n_iter_no_change") + " to wait longer." if advice else text
    if run.stop_reason == "plateau" and run.undecided:
        return (
            f"Training ended {reached}, because mistakes no longer fall. Whether it can be separated was not "
            "decided, because that takes longer than training: "
            + Term("certify", "rosenblatt.certify(X, y)")
            + f" decides. {last}"
        )
    if run.stop_reason == "cycle" and run.proof is not None:
        return (
            f"Training went in a cycle, and ended with pass {made:,}: the weights are exactly what they "
            f"were before, because no {which} separates the data. "
            + Term(
                "support",
                f"certificate_ is the proof, a combination of {list_numbers('row', run.proof.support)}. ",
            )
            + "Use "
            + OTHERS
            + "."
        )
    if run.stop_reason == "max_iter":
        limit, amount = f"max_iter={p.max_iter}" if made == p.max_iter else f"the {made} listed", "passes"
    elif run.stop_reason == "max_time":
        limit, amount = f"max_time={p.max_time}", "time"
    else:
        return None
    unit = "seconds" if amount == "time" else amount
    advice = advice.format(amount=amount, limit=run.stop_reason)
    proved = f"Some hyperplane does ({_proved(run)}). " if run.separable else ""
    return f"Training ended after {limit} {unit} {reached}. {proved}{last} {advice}".rstrip()


def _proved(run: PerceptronRun) -> str:
    """Return where a hyperplane that separates the rows is found."""
    if run.proof is None:
        return "proved"
    names = "certificate_.coef_ and certificate_.intercept_"
    return f"proved: see {names if run.trace.scheme.kind == 'binary' else 'certificate_'}"


def _impossible(run: PerceptronRun, which: str) -> str:
    """Return what a proof shows to be impossible; `which` are the hyperplanes it is about."""
    data: Any = None if run.proof is None else run.proof.data
    if run.trace.scheme.kind == "binary":
        return f"No {which} separates these rows"
    if run.trace.scheme.kind == "direct":
        return "No linear functions, one for each class, are right on all of these rows"
    against = "the rest" if data.negative is None else repr(data.negative)
    return f"No {which} separates the class {data.positive!r} from {against}"


def list_numbers(what: str, numbers: Sequence[int]) -> str:
    """Return numbers of things in words, the first of them if they are many.

    Examples
    --------
    >>> list_numbers("row", [0, 3]), list_numbers("row", range(20))
    ('rows 0, 3', 'rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more')
    """
    more = len(numbers) - MAX_LISTED_ITEMS
    shown = ", ".join(map(str, numbers[:MAX_LISTED_ITEMS])) + (f" and {more} more" if more > 0 else "")
    return f"{what}{'s' if len(numbers) > 1 else ''} {shown}"
