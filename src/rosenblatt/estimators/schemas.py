"""Stored states that several estimators share, with the conditions that must hold of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rosenblatt.estimators._fitting import Drawn
from rosenblatt.learners.network_schemas import CODING, LAYER, NETWORK_RUN, NETWORK_STATE, link_network
from rosenblatt.learners.stream_schemas import link_online, online_parts, require_names
from rosenblatt.loops.rules import PLAIN, Rule
from rosenblatt.model.schemas import HYPERPLANES, LABELS, require_hyperplanes
from rosenblatt.schema.codecs import (
    INTEGERS,
    Boxed,
    Codec,
    Context,
    Count,
    Flag,
    Maybe,
    Record,
    Scalar,
    Several,
    Text,
    wrong,
)
from rosenblatt.schema.estimators import StateSchema
from rosenblatt.schema.plain import Names, PerLabel
from rosenblatt.trace.mixing import MIXING
from rosenblatt.trace.schemas import COLUMN, CURVE, TRACE

LONGEST_TRACE = 2**16
"""The most mistakes of a fit that a model file or a pickle keeps: 1.5 MB. Of a longer run they keep counts."""

Parts = dict[str, Codec]


class CertificateCodec:
    """A proof that classes cannot be separated, as the text that anyone can check."""

    def encode(self, value: Any, at: str, context: Context) -> Any:
        """Return the text."""
        return value.to_json()

    def decode(self, stored: Any, at: str, context: Context) -> Any:
        """Return the certificate. Reading does not verify it: its method `verify` does."""
        from rosenblatt.certify.certificate import Certificate

        try:
            proof = Certificate.from_json(stored if isinstance(stored, str) else "")
        except (ValueError, TypeError, KeyError, ArithmeticError) as error:
            wrong(at, f"is not a proof: {error}")
        if proof.verdict != "inseparable":
            wrong(at, "is not a proof that classes cannot be separated")
        return proof


def facts(*names: str) -> Parts:
    """Return attributes that are single values."""
    return dict.fromkeys(names, Scalar())


READS_TABLES: Parts = {"_width": Count(1), "_names": Names()}
DRAWN = Record(Drawn, {"seed": Count(most=2**64 - 1), "held_out": Maybe(INTEGERS), "passes": Count()})
RUN: Parts = {
    "n_iter_": Count(),
    "converged_": Flag(),
    "stop_reason_": Text(),
    "curve_": CURVE,
    "_class_counts": PerLabel(Count()),
    "_trace": TRACE,
    "_traced": Flag(),
    "_untraced": Maybe(Text()),
    "_sparse_coef": Flag(),
}
"""What a fit by visits leaves besides its hyperplanes."""


def without_long_trace(held: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator, with only the counts of a trace that is too long for a file."""
    trace = held.get("_trace")
    if trace is None or trace.mistakes is None or len(trace) <= LONGEST_TRACE:
        return held
    why = (
        f"The model file or pickle this was loaded from kept no trace: a run of {len(trace):,} mistakes is longer "
        f"than the {LONGEST_TRACE:,} that files keep. Save the trace beside the model, by trace_.save."
    )
    return held | {"_trace": replace(trace, mistakes=None), "_traced": False, "_untraced": why}


def hyperplane_state(own: Parts) -> StateSchema:
    """Return the state of a classifier that is trained on one batch and predicts by hyperplanes.

    Parameters
    ----------
    own : mapping of str to Codec
        Its attributes besides the hyperplanes.
    """

    def link(held: dict[str, Any]) -> None:
        require_hyperplanes(held)
        require_names(held)

    return StateSchema(HYPERPLANES | own, {}, link, without_long_trace)


BATCH: Parts = {"_fit_counts": Several(Count()), **RUN}
"""What a classifier trained on one batch by visits has besides its hyperplanes."""


def perceptron_state(rule: Any = Rule) -> StateSchema:
    """Return the stored state of a `Perceptron` that learns by a kind of rule.

    Parameters
    ----------
    rule : NamedTuple class
        `rosenblatt.loops.rules.Rule`, or a rule of your own whose fields are all numbers.
    """
    own: Parts = {"certificate_": Maybe(CertificateCodec()), "_drawn": DRAWN, "mixing_": MIXING}
    if rule not in PLAIN:
        own["_fit_wrong"] = Several(Count())
    return StateSchema(online_parts(rule), RUN | own, link_online, without_long_trace)


NETWORK: Parts = {"_state": NETWORK_STATE, "_layers": Several(LAYER, tuple), **READS_TABLES}
"""What every network has."""
TASK: Parts = {
    "_loss": Text(("squared_error", "cross_entropy")),
    "_coding": Maybe(CODING),
    "_classes": Maybe(Boxed(LABELS)),
    "_flat": Flag(),
    "loss_curve_": COLUMN,
}
"""What a network learns, and how its loss fell."""
MISTAKES_MADE: Parts = {"_fit_mistakes": Several(Count()), "_stream_mistakes": Maybe(Count())}
"""The mistakes of each pass of a network's fit, and of its stream."""
NETWORK_FIT: Parts = {
    "n_iter_": Count(),
    "stop_reason_": Text(),
    "converged_": Flag(),
    "_run": NETWORK_RUN,
    "_drawn": DRAWN,
}
"""What a fit of a network leaves besides."""


def link_layers(held: dict[str, Any]) -> None:
    """Require that layers, parameters, classes and names of a network agree."""
    link_network(held)
    require_names(held)
