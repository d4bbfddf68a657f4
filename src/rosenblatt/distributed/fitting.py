"""`fit`: train a perceptron on a cluster."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from sklearn.pipeline import Pipeline

from rosenblatt.codecs import read_container
from rosenblatt.distributed.cluster import Cluster
from rosenblatt.distributed.mixing import ClusterVisitor, MixedFit
from rosenblatt.distributed.partitioned import PartitionedBlocks
from rosenblatt.distributed.parts import PARTITION_BYTES, FilePart, load_file
from rosenblatt.distributed.sources import (
    delayed_pairs,
    file_parts,
    is_files,
    learn_from_files,
    merge_recipes,
    merge_statistics,
    merge_weightings,
    partition,
    places_of,
    rows_on_workers,
)
from rosenblatt.estimators._fitting import Drawn, Keeping, conclude, keeping, make_plan, open_run
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.estimators.perceptron_core import may_ask
from rosenblatt.estimators.table_encoder import CHOSEN, TableEncoder, from_1, measure_features
from rosenblatt.exceptions import ClusterError, Given, InputError, ModelFileError, ParameterError, ShapeError
from rosenblatt.learning.checkpoint import Checkpoint, Saved, restore
from rosenblatt.learning.state import Mixing, MixingWeights, fold_state
from rosenblatt.parameters import check_choice
from rosenblatt.registry import abilities, classes_able
from rosenblatt.rows.batch import require_two
from rosenblatt.stopping import interruptible
from rosenblatt.tables.in_memory import learn_table
from rosenblatt.tables.preparation import Encoding
from rosenblatt.tables.reading import Options
from rosenblatt.tables.recipe import Recipe, TableRecipe
from rosenblatt.tables.scaling import Statistics, Weighting
from rosenblatt.typing import ColumnLike, MatrixLike

E = TypeVar("E")
ALONE = {
    "early_stopping": (False, "Set it to False, and validate with rosenblatt.distributed.score."),
    "stop_on_cycle": (False, "Set it to False."),
    "warm_start": (False, "Set it to False."),
    "device": ("cpu", "Set it to 'cpu'."),
}
"""Parameters that a distributed fit does not take, with the value they must have."""


def fit(
    estimator: E,
    X: MatrixLike | PartitionedBlocks,
    y: ColumnLike | None = None,
    *,
    client: Any = None,
    mixing: Mixing = "uniform",
    by: str = "partitions",
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 1,
    resume: bool = False,
    **options: Any,
) -> E:
    """Train an estimator on data in partitions, by iterative parameter mixing (McDonald, Hall and Mann 2010).

    In each pass every partition trains from the mixed weights, on its own, and the results are mixed. The result
    depends on the data, its partitions and the seed alone: not on the number of workers, nor on workers that die.
    One partition gives exactly what `Perceptron.fit_blocks` gives.

    Parameters
    ----------
    estimator : Perceptron, PassiveAggressiveClassifier, or Pipeline of a TableEncoder and one of these
        Its parameters mean what they mean in `Perceptron.fit`. Only ``order="shuffle"`` and ``"cyclic"`` are
        possible, within partitions. Mistakes are counted, not kept. A pass is never cut short: `max_time` ends
        training after the pass in which it is reached.
    X, y, **options
        The data; see `partition`.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the client in use.
    mixing : {"uniform", "mistakes"}
        Whether partitions weigh the same, or by their mistakes in the pass.
    by : {"partitions", "machines"}
        "machines" trains one hyperplane of one-vs-rest or one-vs-one in each task, on data of one partition:
        exactly the model of `Perceptron.fit_blocks`.
    checkpoint : path or None
        A file on this node for the state after passes. Another cluster can go on from it.
    every : int
        The number of passes between checkpoints.
    resume : bool
        Whether to continue from the checkpoint if there is one: to the same result, bit for bit.

    Returns
    -------
    estimator
        The estimator, trained. `mixing_` says how it was mixed; see `MixingWeights`.

    Raises
    ------
    ClusterError
        The scheduler is lost, or there are no workers. The checkpoint holds the last complete pass.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from distributed import Client
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
    ...     clf = rd.fit(rb.Perceptron(average=True), rows, labels, client=client)
    >>> clf.score(X, y) > 0.95
    True
    """
    with interruptible():
        if isinstance(estimator, Pipeline):
            _fit_pipeline(estimator, X, y, client, options, mixing, by, checkpoint, every, resume)
            return estimator
        if not isinstance(estimator, Perceptron) or "mixing" not in abilities(estimator):
            raise ParameterError(
                f"{type(estimator).__name__} cannot be trained by parameter mixing. Use {classes_able('mixing')}, "
                "or a Pipeline of a TableEncoder and one of these.",
                parameter="estimator",
            )
        check_choice("mixing", mixing, ("uniform", "mistakes"))
        check_choice("by", by, ("partitions", "machines"))
        _require_possible(estimator, by)
        with keeping(checkpoint, every, resume) as kept:
            blocks = X if isinstance(X, PartitionedBlocks) else partition(X, y, client=client, **options)
            _train(estimator, blocks, mixing, by == "machines", kept)
    return estimator


def _fit_pipeline(
    pipeline: Any, X: Any, y: ColumnLike | None, client: Any, options: dict[str, Any], *how: Any
) -> None:

    steps = [step for _, step in pipeline.steps]
    if len(steps) != 2 or not isinstance(steps[0], TableEncoder) or not isinstance(steps[1], Perceptron):
        told = "The pipeline must have two steps, a TableEncoder and a Perceptron."
        raise ParameterError(told, parameter="estimator")
    mixing, by, checkpoint, every, resume = how
    fit_encoder(steps[0], X, y, client=client, **options)
    blocks = encode_partitions(steps[0], X, y, client=client, **options)
    fit(steps[1], blocks, mixing=mixing, by=by, checkpoint=checkpoint, every=every, resume=resume)


def _require_possible(p: Any, by: str) -> None:
    p._check_parameters()
    for name, (value, advice) in ALONE.items():
        if getattr(p, name) != value:
            raise ParameterError(Given(name, getattr(p, name)) + f" needs all rows in one place. {advice}")
    if p.init == "first":
        raise ParameterError(
            Given("init", "first") + " needs one sequence of rows, but partitions are many. Use 'zero'."
        )
    if p.trace == "mistakes":
        raise ParameterError(
            Given("trace", "mistakes") + " needs one sequence of visits. Use 'auto', which keeps counts here."
        )
    if not isinstance(p.order, str) or p.order not in ("shuffle", "cyclic"):
        shown = repr(p.order) if isinstance(p.order, str) else "..."
        raise ParameterError(Given("order", shown) + " needs all rows in one place. Use 'shuffle' or 'cyclic'.")
    if p.average and (int(p.average) > 1 or p.penalty is not None):
        told = "On a cluster an average is over all visits, without a penalty. Use average=True and penalty=None."
        raise ParameterError(told, parameters=("average", "penalty"))
    if by == "machines" and (p.multiclass == "direct" or p.tol is not None or p.penalty is not None):
        raise ParameterError(
            Given("by", "machines")
            + " trains hyperplanes apart: it needs multiclass='ovr' or 'ovo', and neither tol nor a "
            "penalty. Use by='partitions'."
        )


def _train(
    p: Perceptron,
    blocks: PartitionedBlocks,
    mixing: Mixing,
    machines: bool,
    kept: Keeping | None,
) -> None:
    require_two(blocks.classes)
    if machines and (len(blocks.parts) > 1 or not blocks.known[0].in_memory or len(blocks.classes) < 3):
        raise ParameterError(
            Given("by", "machines")
            + " needs three classes or more, and all rows in the memory of each worker: one partition, "
            f"but there are {len(blocks.parts)}. Use by='partitions'."
        )
    keeper, saved = open_run(p, blocks, kept, MixedCheckpoint, mixing=mixing if len(blocks.parts) > 1 else "none")
    redrawn = None if saved is None else Drawn(saved.seed, None)
    with make_plan(p, blocks, redrawn=redrawn, sparse=True) as planned_fit:
        plan, start, drawn = planned_fit
        if start.moves_more:
            told = f"{type(p).__name__} keeps more than weights, and only weights are mixed."
            raise ParameterError(told, parameter="estimator")
        shuffles = p.order == "shuffle" and p.shuffle
        seed = drawn.seed if shuffles else None
        visitor = ClusterVisitor(blocks, plan, start.copy(), seed, mixing, machines=machines)
        if len(blocks.parts) == 1 and blocks.known[0].in_memory and may_ask(p, plan, start):
            plan = visitor.plan = replace(plan, ask=visitor.ask)
        loop = MixedFit(visitor, start, keeper)
        if keeper is not None:
            keeper.seed = drawn.seed
        if saved is not None and keeper is not None:
            restore(loop, saved)
            loop.weighted = keeper.weighted()
        try:
            run = loop.run()
        except ClusterError as error:
            raise _after(error, loop, None if kept is None else kept.path) from error
    if blocks.scaling is not None:
        run = replace(run, state=fold_state(run.state, blocks.scaling))
    drawn = drawn._replace(passes=len(run.mistakes_per_pass))
    weights = MixingWeights(mixing, len(blocks.parts), float(loop.weighted))
    p._publish(run, blocks, _drawn=drawn, certificate_=run.proof, mixing_=weights)
    conclude(p, run, p._reached, best=bool(p.average), stacklevel=4)


def _after(error: ClusterError, loop: MixedFit, checkpoint: Any) -> ClusterError:
    passes = loop.complete.passes
    if checkpoint is None:
        return ClusterError(f"{error} {passes} passes were complete; without a checkpoint they are lost.")
    return ClusterError(f"{error} The checkpoint {checkpoint} is of pass {passes}.")


class MixedCheckpoint(Checkpoint):
    """A checkpoint that also keeps Σ μ k, which the bound of McDonald, Hall and Mann (2010) is about."""

    def _document(self, loop: Any, saved: Saved, context: Any) -> dict[str, Any]:
        return super()._document(loop, saved, context) | {"weighted": str(loop.weighted)}

    def weighted(self) -> Fraction:
        """Return Σ μ k of the passes in the file."""
        document, _ = read_container(self.path, private=True)
        try:
            return Fraction(document["weighted"])
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            raise ModelFileError(
                f"The checkpoint {self.path} is not of a distributed fit. Remove it, and train again."
            ) from None


# `TableEncoder` on partitions: each learns from its own rows, and what they learned is merged in order.


def fit_encoder(
    encoder: TableEncoder, X: MatrixLike, y: ColumnLike | None = None, *, client: Any = None, **options: Any
) -> TableEncoder:
    """Fit a `TableEncoder` in one pass over the partitions of a Dask DataFrame or of files.

    Every worker learns the categories, words, means and deviations of its partitions. They are merged in the order
    of the partitions. Categories and words are those that `TableEncoder.fit` finds on all rows, in the same order.
    The first partition decides which columns are numbers.

    Parameters
    ----------
    encoder : TableEncoder
        Fitted in place.
    X, y, **options
        A Dask DataFrame and its labels, or file names and how to read them; see `partition`.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the client in use.

    Returns
    -------
    TableEncoder
        The encoder.

    Examples
    --------
    >>> import dask.array as da
    >>> import rosenblatt as rb
    >>> from distributed import Client
    >>> from rosenblatt import distributed as rd
    >>> X, y = rb.datasets.make_diagonal(200, seed=1)
    >>> rows, labels = da.from_array(X, (50, 2)), da.from_array(y, 50)
    >>> with Client(n_workers=1, processes=False, dashboard_address=":0") as client:
    ...     encoder = rd.fit_encoder(rb.TableEncoder(scale=True), rows, labels, client=client)
    >>> bool(abs(encoder.transform(X).mean()) < 1e-12)
    True
    """
    cluster = Cluster(client)
    how = encoder._options()
    gathers = encoder.missing in ("mean", "indicator") or bool(encoder.scale)
    columns: tuple[str, ...] | None = None
    if is_files(X):
        files = file_parts(cluster, places_of(X), _of_files(how, options))
        recipe, _, statistics, _, weighting = learn_from_files(cluster, files, gathers, weighs=True)
    else:
        recipe, statistics, columns, weighting = _learned_from_frame(cluster, X, y, how, gathers)
    encoder.encoding_ = encoder._learned(recipe, statistics, columns, weighting)
    return encoder


def encode_partitions(
    encoder: TableEncoder,
    X: MatrixLike,
    y: ColumnLike | None = None,
    *,
    client: Any = None,
    memory: int = PARTITION_BYTES,
    **options: Any,
) -> PartitionedBlocks:
    """Return data in partitions as the features of a fitted encoder, encoded by the workers that hold them."""
    cluster, encoding = Cluster(client), encoder.encoding_
    if not is_files(X):
        return PartitionedBlocks.of(cluster, rows_on_workers(cluster, X, y, encoding))
    files = file_parts(cluster, places_of(X), _of_files(encoder._options(), options))
    parts = [FilePart(path, how, encoding.recipe, memory) for path, how in files]
    blocks = PartitionedBlocks.of(cluster, [cluster.run(load_file, part) for part in parts])
    blocks = blocks.transformed(encoding.transformation)
    blocks.scaling = None  # the encoder scales, so that the weights stay those of scaled features
    blocks.names = None
    return blocks


def _of_files(how: Options, options: dict[str, Any]) -> Options:
    """Return how files are read: positions of columns from 1, and the options that are no parameters."""
    columns: dict[str, Any] = {name: tuple(from_1(column) for column in getattr(how, name)) for name in CHOSEN}
    return replace(how, **columns, **options)


def _learned_from_frame(
    cluster: Cluster, X: MatrixLike, y: ColumnLike | None, how: Options, gathers: bool
) -> tuple[Recipe, Statistics, tuple[str, ...] | None, Weighting | None]:
    rows = [cluster.client.compute(rows) for rows, _ in delayed_pairs(X, y)]
    lengths = cluster.answers([cluster.run(len, each) for each in rows])
    rows = [each for each, length in zip(rows, lengths, strict=True) if length]
    if not rows:
        raise ShapeError(f"All {len(lengths)} partitions are empty, but at least one row is needed.")
    first = cluster.run(_learn, rows[0], how, None, gathers)
    start = cluster.run(_beginning, first)
    found = cluster.answers([first, *(cluster.run(_learn, each, how, start, gathers) for each in rows[1:])])
    begun, names = found[0].recipe, found[0].columns
    if not isinstance(begun, TableRecipe):
        raise InputError("X is sparse, but the encoder reads tables here. Encode numbers before, or pass a frame.")
    recipe = merge_recipes(replace(begun, categories=(), words=None), [each.recipe for each in found])
    statistics = merge_statistics(recipe, [(each.recipe, each.statistics) for each in found])
    return recipe, statistics, names, merge_weightings([each.weighting for each in found])


def _learn(frame: Any, how: Options, start: Recipe | None, gathers: bool) -> Encoding:
    """Learn from one partition; `start` says which columns are what."""
    features, recipe, names = learn_table(frame, how, start)
    statistics = Statistics()
    if gathers:
        measure_features([features], statistics)
    weighting = Weighting.of(recipe)
    if weighting is not None:
        weighting = weighting.add(features.rows, features.n_rows)
    return Encoding(recipe, weighting=weighting, statistics=statistics, columns=names)


def _beginning(first: Encoding) -> Recipe:
    """Return what the first partition says about columns, without what it learned."""
    recipe = first.recipe
    return replace(recipe, categories=(), words=None) if isinstance(recipe, TableRecipe) else recipe
