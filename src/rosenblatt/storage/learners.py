"""Every estimator that a file can hold: what it is made of, and what must be so of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rosenblatt.schema.codecs import (
    Array,
    Boxed,
    Codec,
    Context,
    Count,
    Flag,
    Maybe,
    Scalar,
    Several,
    Text,
    require,
    wrong,
)
from rosenblatt.schema.plain import Names
from rosenblatt.storage.learner import PARAMETER, Learner

FACT = Scalar()


class Nested:
    """An estimator inside another."""

    def __init__(self, name: str) -> None:
        self.name = name

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return its parameters and state."""
        return learner_of(self.name).encode(value, f"{at}.", context)

    def decode(self, told: Any, at: str, context: Context) -> Any:
        """Return the estimator."""
        return learner_of(self.name).decode(told, f"{at}.", Context(context.tensors, None, context.classes))


def _visiting() -> dict[str, Learner]:
    from rosenblatt.estimators.kernel_perceptron import KernelPerceptron
    from rosenblatt.estimators.lifted import LiftedPerceptron
    from rosenblatt.estimators.perceptron import Perceptron
    from rosenblatt.estimators.pocket import PocketPerceptron
    from rosenblatt.estimators.voted import VotedPerceptron
    from rosenblatt.schema.kernels import KERNEL
    from rosenblatt.schema.plain import VocabularyCodec
    from rosenblatt.schema.rows import require_width
    from rosenblatt.storage.hyperplanes import HYPERPLANES, require_hyperplanes, require_problem
    from rosenblatt.storage.kernels import KERNEL_STATE
    from rosenblatt.storage.streams import HYPOTHESES, STREAM, require_votes, revived
    from rosenblatt.storage.traces import DRAWN, RUN, Proof, without_long_trace

    online: dict[str, Codec] = HYPERPLANES | {
        "_vocabulary": Maybe(VocabularyCodec()),
        "_stream": Maybe(STREAM),
        "_fit_counts": Several(Count()),
    }

    def go_on(held: dict[str, Any]) -> None:
        _require_names(held)
        if held["_stream"] is not None:
            stream = held["_stream"] = revived(held["_stream"], held["_state"])
            require(stream.scheme == held["_scheme"] and stream.zero == held["_zero"], "the stream is another's")
            require(stream.classes.tolist() == held["_classes"].tolist(), "the stream has other classes")
            require((type(held["_state"]) is type(stream.start)), "the stream is another's")
        require("_trace" in held or held["_stream"] is not None, "there is neither a run nor a stream")
        require(("_trace" in held) == ("_traced" in held), "whether there is a trace is not said")

    def link(held: dict[str, Any]) -> None:
        require_hyperplanes(held)
        go_on(held)

    def link_voted(held: dict[str, Any]) -> None:
        link(held)
        require("_past" in held or held["_stream"] is not None, "nobody votes")
        require_votes(held.get("_past", []), held["_classes"], held["_width"])

    def link_kernel(held: dict[str, Any]) -> None:
        require_problem(held)
        state, scheme = held["_state"], held["_scheme"]
        require(scheme.n_classes < 2**20, "there are too many classes")
        shape = () if scheme.kind == "binary" else (scheme.n_machines,)
        require(state.w.shape[:-1] == shape, "weights are not of their scheme")
        support, width = state.support, held["_width"]
        require(width <= state.n_features, "rows have fewer features")
        if support.keeps_rows and support.count:  # of sparse rows there may be room for features to come
            require_width(support.points.rows, support.count, width)
        require(
            held["_kernel"].streams == state.support.keeps_rows, "rows are kept, or missing, against the kernel"
        )
        require(held["_kernel"].resolved, "the kernel has yet to see its data")
        go_on(held)

    def link_batch(held: dict[str, Any]) -> None:
        require_hyperplanes(held)
        _require_names(held)

    batch: dict[str, Codec] = HYPERPLANES | {"_fit_counts": Several(Count()), **RUN}
    pocket: dict[str, Codec] = dict.fromkeys(
        ("pocket_errors_", "pocket_score_", "pocket_visit_", "n_rows_counted_"), FACT
    )
    lifted: dict[str, Codec] = dict.fromkeys(("lifted_margin_", "lemma_margin_", "mistake_bound_"), FACT)
    own_kernel: dict[str, Codec] = {"_state": KERNEL_STATE, "_kernel": KERNEL, "_asked_for": KERNEL}
    proof: dict[str, Codec] = {"certificate_": Maybe(Proof()), "_drawn": DRAWN}
    keep = without_long_trace
    return {
        "Perceptron": Learner(Perceptron, online, RUN | proof, link, keep),
        "VotedPerceptron": Learner(
            VotedPerceptron, online, RUN | {"_past": Several(HYPOTHESES)}, link_voted, keep
        ),
        "KernelPerceptron": Learner(
            KernelPerceptron, online | own_kernel, RUN | {"_drawn": DRAWN}, link_kernel, keep
        ),
        "PocketPerceptron": Learner(PocketPerceptron, batch | pocket, {}, link_batch, keep),
        "LiftedPerceptron": Learner(LiftedPerceptron, batch | lifted | {"lift_": Array()}, {}, link_batch, keep),
    }


def _margins() -> dict[str, Learner]:
    import numpy as np

    from rosenblatt.estimators.max_margin import MaxMarginClassifier
    from rosenblatt.estimators.soft_margin import SoftMarginClassifier
    from rosenblatt.schema.rows import NativeTable
    from rosenblatt.storage.hyperplanes import HYPERPLANES, require_hyperplanes

    def link(held: dict[str, Any]) -> None:
        require_hyperplanes(held)
        _require_names(held)

    soft: dict[str, Codec] = dict.fromkeys(
        ("objective_", "gap_", "gap_from_", "converged_", "stop_reason_", "n_iter_"), FACT
    )
    own: dict[str, Codec] = {
        "support_": Array(dtypes=(np.int64,)),
        "support_vectors_": NativeTable(),
        "dual_coef_": Array(2, finite=False),
    }
    hard: dict[str, Codec] = dict.fromkeys(("margin_", "gap_", "n_iter_"), FACT) | own
    shared: dict[str, Codec] = HYPERPLANES | {"_sparse_coef": Flag()}
    return {
        "SoftMarginClassifier": Learner(SoftMarginClassifier, shared | soft | {"_descended": Flag()}, {}, link),
        "MaxMarginClassifier": Learner(MaxMarginClassifier, shared | hard, {}, link),
    }


def _networks() -> dict[str, Learner]:
    from rosenblatt.estimators.multilayer_perceptron import MultilayerPerceptron
    from rosenblatt.estimators.visual_hierarchy import VisualHierarchy
    from rosenblatt.storage.hyperplanes import LABELS
    from rosenblatt.storage.networks import CODING, CURVE, LAYER, NETWORK_RUN, NETWORK_STATE, link_network
    from rosenblatt.storage.traces import DRAWN

    network: dict[str, Codec] = {
        "_state": NETWORK_STATE,
        "_layers": Several(LAYER, tuple),
        "_width": Count(1),
        "_names": Names(),
    }
    run: dict[str, Codec] = {
        "n_iter_": Count(),
        "stop_reason_": Text(),
        "converged_": Flag(),
        "loss_curve_": CURVE,
        "_run": NETWORK_RUN,
        "_drawn": DRAWN,
        "_loss": Text(("squared_error", "cross_entropy")),
        "_coding": Maybe(CODING),
        "_classes": Maybe(Boxed(LABELS)),
        "_flat": Flag(),
    }
    always = ("_loss", "_coding", "_classes", "_flat", "loss_curve_")
    counts: dict[str, Codec] = {"_fit_mistakes": Several(Count()), "_stream_mistakes": Maybe(Count())}
    own: dict[str, Codec] = network | counts | {name: run[name] for name in always}

    def link_hierarchy(held: dict[str, Any]) -> None:
        link_network(held)
        n_layers = len(held["_layers"])
        require(n_layers in (3, 4) and (n_layers == 4 or "_run" not in held), "a hierarchy has other layers")

    return {
        "MultilayerPerceptron": Learner(MultilayerPerceptron, own, run, link_network),
        "VisualHierarchy": Learner(VisualHierarchy, network, run, link_hierarchy),
    }


def _machines() -> dict[str, Learner]:
    from rosenblatt.estimators.adaptive_filter import AdaptiveFilter
    from rosenblatt.estimators.extreme_learning import FIXED, ExtremeLearningMachine
    from rosenblatt.estimators.mark_one import MACHINE, MarkOne
    from rosenblatt.estimators.monomial_map import MonomialMap
    from rosenblatt.storage.machines import FILTER, MONOMIALS, RANDOM_LAYER, RETINA, RIDGE, TARGETS, WIRING

    table: dict[str, Codec] = {"_width": Count(1), "_names": Names()}

    def link_mark_one(held: dict[str, Any]) -> None:
        _require_names(held)
        retina, wiring, response = held["_retina"], held["wiring_"], held["_response"]
        height, width = retina.image_shape
        require(height * width == held["_width"], "images are of another size")
        require(retina.shape == wiring.retina, "the wires are of another retina")
        require(response.n_features_in_ == wiring.n_units, "response and association units are not as many")
        require(held["_kept"].keys() == set(MACHINE), "parameters of the machine are missing")

    def link_elm(held: dict[str, Any]) -> None:
        _require_names(held)
        require(held["_kept"].keys() == set(FIXED), "parameters of the machine are missing")
        layer, ridge, targets = held["_layer"], held["_ridge"], held["_targets"]
        require(layer.weights.shape[1] == held["_width"] + 1, "neurons and features do not fit each other")
        require(len(layer.weights) == len(ridge.triangle) - 1, "neurons and read-out do not fit each other")
        require(
            targets.classes is None or len(targets.classes) == ridge.n_outputs,
            "classes and outputs are not as many",
        )

    def link_map(held: dict[str, Any]) -> None:
        _require_names(held)
        monomials = held["_monomials"]
        require(monomials.d == held["_width"], "monomials are of other features")
        require(monomials.n_columns == held["n_output_features_"], "there are not as many monomials")

    kept = _Kept()
    mark_one: dict[str, Codec] = table | {
        "wiring_": WIRING,
        "_retina": RETINA,
        "_response": Nested("Perceptron"),
        "_kept": kept,
    }
    elm: dict[str, Codec] = table | {"_layer": RANDOM_LAYER, "_ridge": RIDGE, "_targets": TARGETS, "_kept": kept}
    monomial: dict[str, Codec] = table | {"n_output_features_": Count(1, 2**62), "_monomials": MONOMIALS}
    return {
        "MarkOne": Learner(MarkOne, mark_one, {}, link_mark_one),
        "ExtremeLearningMachine": Learner(ExtremeLearningMachine, elm, {}, link_elm),
        "MonomialMap": Learner(MonomialMap, monomial, {}, link_map),
        "AdaptiveFilter": Learner(AdaptiveFilter, {"_stream": FILTER}, {}),
    }


class _Kept:
    """Parameters as they were when training began."""

    def encode(self, value: dict[str, Any], at: str, context: Context) -> Any:
        """Return a table of them."""
        return {name: PARAMETER.encode(each, f"{at}.{name}", context) for name, each in value.items()}

    def decode(self, told: Any, at: str, context: Context) -> dict[str, Any]:
        """Return the parameters."""
        if not isinstance(told, dict):
            wrong(at, "is no table")
        return {name: PARAMETER.decode(each, f"{at}.{name}", context) for name, each in told.items()}


def _require_names(held: dict[str, Any]) -> None:
    vocabulary, names = held.get("_vocabulary"), held["_names"]
    require(names is None or len(names) <= held["_width"], "names and features are not as many")
    require(vocabulary is None or len(vocabulary) == held["_width"], "names and features are not as many")
    require(names is None or vocabulary is not None or len(names) == held["_width"], "names are missing")


_FAMILIES: dict[str, Callable[[], dict[str, Learner]]] = {
    **dict.fromkeys(
        ("Perceptron", "VotedPerceptron", "KernelPerceptron", "PocketPerceptron", "LiftedPerceptron"), _visiting
    ),
    **dict.fromkeys(("SoftMarginClassifier", "MaxMarginClassifier"), _margins),
    **dict.fromkeys(("MultilayerPerceptron", "VisualHierarchy"), _networks),
    **dict.fromkeys(("MarkOne", "ExtremeLearningMachine", "MonomialMap", "AdaptiveFilter"), _machines),
}
_made: dict[str, Learner] = {}


def learner_of(name: str) -> Learner:
    """Return how the estimator of a name, one of `LEARNERS`, is written and read."""
    if name not in _made:
        _made.update(_FAMILIES[name]())
    return _made[name]
