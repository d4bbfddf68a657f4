"""Codecs of networks, their states and their runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from rosenblatt.learners.network_plan import NetworkRun, NetworkState
from rosenblatt.loops.neurons import GainControl, LogSquare, ReLU, Sigmoid, Tanh
from rosenblatt.model.network import Layer, n_parameters
from rosenblatt.model.outputs import Coding
from rosenblatt.schema.codecs import (
    REALS,
    Array,
    Count,
    Either,
    Flag,
    Maybe,
    Number,
    Record,
    Several,
    Text,
    require,
)

RESPONSE = Either(
    {
        "logistic": (Sigmoid, Record(Sigmoid, {})),
        "tanh": (Tanh, Record(Tanh, {})),
        "relu": (ReLU, Record(ReLU, {})),
        "log square": (LogSquare, Record(LogSquare, {})),
        "gain control": (GainControl, Record(GainControl, {"sigma": Number(least=0.0)})),
    }
)
LAYER = Record(
    Layer,
    {
        "n_inputs": Count(1, 2**31),
        "n_neurons": Count(1, 2**31),
        "responses": Several(RESPONSE, tuple),
        "bias": Flag(),
        "nonnegative": Flag(),
    },
)


def _sound_state(state: NetworkState) -> None:
    moments = state.moments
    require(moments.dtype == state.theta.dtype, "parameters and moments have different precisions")
    require(
        len(moments) in (1, 2) and moments.shape[1] == state.theta.size,
        "the numbers of moments and of parameters differ",
    )


NETWORK_STATE = Record(
    NetworkState,
    {"theta": Array(1, REALS), "moments": Array(2, REALS), "steps": Count(), "visits": Count()},
    check=_sound_state,
)
CODING = Record(
    Coding, {"n_classes": Count(2, 2**31), "low": Number(), "high": Number(), "middle": Maybe(Number())}
)
NUMBERS = Several(Number(finite=False))


NETWORK_RUN = Record(
    dict,
    {
        "stop_reason": Text(),
        "losses": NUMBERS,
        "training_errors": NUMBERS,
        "validation_errors": NUMBERS,
        "mistakes_per_pass": Several(Count()),
        "best_pass": Maybe(Count()),
    },
)
"""All of a run but its state, which the estimator holds."""


def link_network(held: dict[str, Any]) -> None:
    """Require that layers, parameters and classes agree, and give the run its state."""
    layers, state = held["_layers"], held["_state"]
    require(layers and held["_width"] == layers[0].n_inputs, "layers and features contradict each other")
    for before, after in pairwise(layers):
        require(
            before.n_neurons == after.n_inputs,
            "a layer has another number of inputs than the one before has neurons",
        )
    require(state.theta.size == n_parameters(layers), "the layers have another number of parameters")
    coding, classes = held.get("_coding"), held.get("_classes")
    require((coding is None) == (classes is None), "classes and outputs contradict each other")
    if coding is not None:
        require(coding.n_classes == len(held["_classes"]), "classes and outputs contradict each other")
        require(coding.n_outputs == layers[-1].n_neurons, "classes and outputs contradict each other")
    if "_run" in held:
        held["_run"] = NetworkRun(state=state, **held["_run"])
