"""The updates of a perceptron run, one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from rosenblatt import presets
from rosenblatt.atomic import write_whole
from rosenblatt.escaping import align_columns, count, number, vector
from rosenblatt.exceptions import Given, ParameterError, Remedy, join_messages
from rosenblatt.parameters import RANGE
from rosenblatt.rooms import find
from rosenblatt.rows.batch import as_batch
from rosenblatt.tasks.data import DataTable, Log, Place, log_info, read_table, require_no_options

__all__ = ["RunUpdates", "trace_updates"]

WEIGHTS_A_LINE = 12
"""The number of weights that fit on a line."""
LISTED_PASSES = 20
"""The number of passes whose mistakes are listed."""


class RunStart(NamedTuple):
    """How a run begins: the learning rate, the weights, the bias, and the first row of each pass, from 1."""

    eta0: float = 1.0
    weights: Sequence[float] | None = None
    bias: float = 0.0
    first: int = 1
    init: str = "zero"


LECTURES = {"@six-points": "koski-example"}
"""The presets from which built-in examples start."""
RULE: dict[str, Any] = {"bias": "unit", "tie": "mistake", "zero": -1, "stop_on_cycle": False}
"""The rule without a preset."""


@dataclass(frozen=True, eq=False)
class RunUpdates:
    """A traced run and its data.

    Attributes
    ----------
    estimator : Perceptron
        Trained; its `trace_` has every update.
    table : DataTable
        The data.
    settings : str
        How the run began.
    """

    estimator: Any
    table: DataTable
    settings: str

    def to_text(self, limit: int = 100) -> str:
        """Return a table of the first updates, with the weights after each if there are few."""
        record, (X, y, _) = self.estimator.trace_, self.table
        few = np.size(record.start.w) <= WEIGHTS_A_LINE and record.start.w.ndim == 1
        binary = record.scheme.kind == "binary"
        columns = ["pass", "visit", "row", "label", *([] if binary else ["against"]), "score",
                   *(["w", "b"] if few else [])]  # fmt: skip
        rows = [columns]
        if few:
            W, b = record.path(X, y)
            rows.append([*[""] * (len(columns) - 3), "start", vector(W[0]), number(float(b[0]))])
        for k in range(min(len(record), limit)):
            i = int(record.index[k])
            rival = [] if binary else [_rival(record, k)]
            state = [vector(W[k + 1]), number(float(b[k + 1]))] if few else []
            rows.append([str(record.epoch[k]), str(record.visit[k] + 1), str(i + 1), str(y[i]), *rival,
                         number(float(record.score[k])), *state])  # fmt: skip
        lines = [f"{len(y)} rows, {X.shape[1]} features; {self.settings}", "", *align_columns(rows)]
        if len(record) > limit:
            how = (
                Remedy("limit")
                + " shows more of them, "
                + Remedy("output", None, "trace_.save")
                + " writes them all"
            )
            lines.append(f"… and {len(record) - limit:,} more; " + how)
        return join_messages("\n", [*lines, "", self._end()])

    def to_json(self, limit: int = 100) -> dict[str, Any]:
        """Return the first updates and the result as plain values."""
        clf, record = self.estimator, self.estimator.trace_
        return {
            "stop_reason": clf.stop_reason_,
            "passes": clf.n_iter_,
            "mistakes_per_pass": clf.mistakes_per_pass_.tolist(),
            "updates": {name: getattr(record, name)[:limit].tolist() for name in record.columns},
            "coef": clf.coef_.tolist(),
            "intercept": clf.intercept_.tolist(),
        }

    def write_page(self, path: Place) -> None:
        """Write a page of two classes to step through the run, forward and back, with every order of visits."""
        clf, (X, y, _) = self.estimator, self.table
        order = None if isinstance(clf.order, str) else clf.order
        document = clf.trace_.to_document(
            X, y, eta=clf.eta0, margin=clf.margin, tie=clf.tie, order=order, reason=clf.stop_reason_
        )
        page: str = find("lab.run_page").run_page(document)
        write_whole(path, page.encode("utf-8"))

    def _end(self) -> str:
        clf = self.estimator
        counts = ", ".join(str(count) for count in clf.mistakes_per_pass_[:LISTED_PASSES])
        more = ", …" if clf.n_iter_ > LISTED_PASSES else ""
        end = "no mistake in the last pass" if clf.converged_ else "the classes are not separated"
        return f"{clf.stop_reason_} in pass {clf.n_iter_}: {end}. Mistakes in each pass: {counts}{more}"


def trace_updates(
    *places: Any,
    eta0: float | None = None,
    start: Sequence[float] | str | None = None,
    start_bias: float | None = None,
    first: int | None = None,
    preset: str | None = None,
    bias: str | None = "preset",
    tie: str | None = None,
    zero: int | None = None,
    stop_on_cycle: bool | None = None,
    margin: float = 0.0,
    shuffle: bool = False,
    seed: int = 0,
    max_iter: int = 100,
    log: Log = log_info,
    **options: Any,
) -> RunUpdates:
    """Train a perceptron on files, a built-in set or arrays, and keep every update.

    Parameters
    ----------
    *places : str or path, or X and y
        Files or a built-in set (see `open_data`), or rows in memory and their labels.
    eta0, start, start_bias, first
        The learning rate (1), the weights and the bias to start from (zeros), and the first row of each pass,
        counted from 1 (1). ``start="first"`` starts from y₁x₁ of the first row visited. The defaults of
        ``@six-points`` are those of the lecture it comes from.
    preset : str or None
        The rule of a lecture; see `rosenblatt.presets`. Other arguments change parts of it.
    bias, tie, zero, stop_on_cycle
        See `rosenblatt.Perceptron`. By default as in the preset, or "unit", "mistake", −1 and False without one.
    margin, max_iter
        See `rosenblatt.Perceptron`.
    shuffle : bool
        Whether each pass has its own random order.
    seed : int
        The random seed.
    log : callable
        Is called with one sentence at a time about what was read.
    **options
        How to read files; see `open_data`.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> print(trace_updates("@six-points").to_text())
    6 rows, 2 features; η = 0.2, start w = (1, 0.5), b = 0, from row 5 on
    <BLANKLINE>
    pass  visit  row  label  score           w     b
                             start    (1, 0.5)     0
       1      1    5     -1      1  (0.6, 0.9)  -0.2
       1      5    3      1   -0.5  (0.2, 1.1)     0
       2      9    1      1  -0.25    (0.5, 1)   0.2
    <BLANKLINE>
    separated in pass 3: no mistake in the last pass. Mistakes in each pass: 2, 1, 0
    """
    import rosenblatt as rb

    if places and not isinstance(places[0], str | PathLike):
        table, usual = _held(places, options), RunStart()
    else:
        table = read_table(*places, log=log, **options)
        usual = _begin(presets.get(LECTURES[str(places[0])])) if str(places[0]) in LECTURES else RunStart()
    rule = dict(RULE)
    if preset is not None:
        chosen = presets.get(preset)
        usual, rule = _begin(chosen), {**RULE, **{name: chosen.rule[name] for name in RULE if name in chosen.rule}}
        if start is None:
            chosen.require_features(table.X.shape[1])
    given = {"tie": tie, "zero": zero, "stop_on_cycle": stop_on_cycle}
    rule |= {name: value for name, value in given.items() if value is not None}
    if bias != "preset":
        rule["bias"] = bias
    begin = _chosen(usual, eta0, start, start_bias, first)
    n_rows = len(table.y)
    if not 1 <= begin.first <= n_rows:
        told = f" is beyond the {n_rows} rows, which count from 1. Choose another one."
        raise ParameterError(Given("first", begin.first) + told, code=RANGE)
    n_features = table.X.shape[1]
    if begin.weights is not None and np.size(begin.weights) % n_features:
        told = f" has {count(np.size(begin.weights), 'weight')}, but the data has {count(n_features, 'feature')}."
        raise ParameterError(Given("start") + told, code=RANGE)
    order: Any = "shuffle" if shuffle else np.roll(np.arange(n_rows), 1 - begin.first)
    clf = rb.Perceptron(eta0=begin.eta0, margin=margin, init=begin.init, order=order, max_iter=max_iter,
                        random_state=seed, trace="mistakes", **rule)  # fmt: skip
    plain = begin.weights is None and not begin.bias
    clf.fit(table.X, table.y, **({} if plain else {"intercept_init": begin.bias, "coef_init": begin.weights}))
    visits = "in a random order" if shuffle else f"from row {begin.first} on"
    told = f"η = {number(begin.eta0)}, start {_weights(clf.trace_.start.w)}, {visits}"
    return RunUpdates(clf, table, "; ".join([told, *_unusual(rule)]))


def _begin(preset: presets.Preset) -> RunStart:
    rule = preset.rule
    return RunStart(rule.get("eta0", 1.0), preset.start, preset.start_bias, preset.first, rule.get("init", "zero"))


def _chosen(
    usual: RunStart,
    eta0: float | None,
    start: Sequence[float] | str | None,
    start_bias: float | None,
    first: int | None,
) -> RunStart:
    """Return the usual start with what the caller chose in its place."""
    weights, init = usual.weights, usual.init
    if isinstance(start, str):
        if start != "first":
            raise ParameterError(Given("start", start) + ' must be a sequence of weights, or "first" for y₁x₁.')
        weights, init = None, "first"
    elif start is not None:
        weights, init = start, "zero"
    bias = usual.bias if start_bias is None else start_bias
    if init == "first" and bias:
        raise ParameterError(
            Given("start", "first") + " sets the bias as well. Drop " + Given("start_bias") + ", or give weights."
        )
    return RunStart(
        usual.eta0 if eta0 is None else eta0, weights, bias, usual.first if first is None else first, init
    )


def _unusual(rule: Mapping[str, Any]) -> list[str]:
    """Return what is special about a rule, in words."""
    words: dict[str, dict[Any, str]] = {
        "bias": {"radius": "the bias gains R²", None: "no bias"},
        "tie": {"correct": "a tie is correct", "half": "a tie is half a step", "sign": "a tie counts by sgn(0)"},
        "zero": {1: "sgn(0) = +1"},
        "stop_on_cycle": {True: "a cycle ends it"},
    }
    return [words[name][rule[name]] for name in words if rule[name] in words[name]]


def _held(places: Sequence[Any], options: Mapping[str, Any]) -> DataTable:
    """Return rows in memory as a table."""
    require_no_options(options)
    if len(places) != 2:
        raise ParameterError(
            f"trace_updates got {len(places)} objects that are no files. Call trace_updates(X, y), or read "
            "Perceptron(trace='mistakes').fit(X, y).trace_.",
            parameter="data",
        )
    batch = as_batch(*places)
    return DataTable(batch.native(), batch.classes[batch.codes], batch.names)


def _weights(w: Any) -> str:
    return (
        f"w = {vector(w[..., :-1].ravel()[:WEIGHTS_A_LINE])}, b = {number(float(w.ravel()[-1]))}"
        if w.any()
        else "zero"
    )


def _rival(record: Any, k: int) -> str:
    return str(record.predicted[k]) if record.scheme.kind == "direct" else f"machine {record.machine[k] + 1}"
