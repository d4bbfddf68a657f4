"""What a fit asks when its mistakes no longer fall: whether it can end without one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rosenblatt.blocks.memory import Blocks, MemoryBlocks
from rosenblatt.exceptions import LabelError
from rosenblatt.learners.plan import Ask, Plan
from rosenblatt.model.state import State
from rosenblatt.typing import Floats

if TYPE_CHECKING:
    from rosenblatt.certify.certificate import Certificate


NUMBER = 100.0  # the work of one exact number in an answer


def question(p: Any, blocks: Blocks, plan: Plan, start: State) -> Ask | None:
    """Return what a fit with parameters `p` asks; None where the answer would not be about this fit.

    An average does not become better by separating the rows, and `tol` and `early_stopping` end by themselves.
    A bias that is there but never moves is neither a bias nor none.
    """
    fixed_bias = plan.rule.beta == 0.0 and bool(start.w[..., -1].any())
    fits = p.tie in ("mistake", "half") and p.penalty is None and plan.order.complete and not fixed_bias
    others = p.average or p.stop_on_cycle or p.tol is not None or p.early_stopping
    if not (p.decide and fits and isinstance(blocks, MemoryBlocks)) or others:
        return None
    return partial(ask, blocks, plan)


def ask(blocks: MemoryBlocks, plan: Plan, weight: Floats, work: float) -> Certificate | None:
    """Decide whether some hyperplanes are right on all rows that have weight; None if the work is not enough."""
    from rosenblatt.certify.verdict import verdict

    kind, k = plan.scheme.kind, len(blocks.classes)
    questions = {"ovr": k, "ovo": k * (k - 1) // 2}.get(kind, 1)
    if questions > 1 and work < NUMBER * blocks.n_features * questions:
        return None  # the answers alone, a vector for each question, would be too much
    batch = replace(blocks.unscaled(), weight=weight)
    try:
        return verdict(
            batch, bias=plan.rule.beta > 0.0, multiclass="direct" if kind == "binary" else kind, work=work
        )
    except LabelError:
        return None  # a proof could not tell these labels apart
