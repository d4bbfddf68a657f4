"""How a run ended, told to whoever asked for it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from rosenblatt.learners.plan import Run

LISTED = 12


def say_how_it_ended(
    p: Any, run: Run, reached: str = "without separating the data", advice: str = "Allow more {amount}."
) -> None:
    """Warn where a run ended on a limit; `p` are the parameters it was trained with.

    `reached` says where the limit left the run. In `advice`, "{amount}" becomes "passes" or "time", and "{limit}"
    the name of the parameter.
    """
    counts = run.mistakes_per_pass
    last = f"The last pass made {counts[-1]:,} mistakes on {run.trace.n_rows:,} rows." if counts else ""
    if p.verbose:
        summary = f"Ended by {run.stop_reason!r}: {len(counts):,} passes, {sum(counts):,} mistakes."
        print(summary, last, file=sys.stderr)
    if run.stuck and p.tie == "correct":
        _warn_of_limit(
            f"{run.stuck} rows lie exactly on the hyperplane and are predicted wrong, but tie={p.tie!r} "
            "never corrects them. Use tie='mistake', or another start."
        )
    elif run.stuck and run.trace.scheme.kind == "ovo":
        _warn_of_limit(
            f"Every pair of classes is separated, yet {run.stuck} rows are predicted wrong: the sum of scores "
            "over all pairs favours another class. Use multiclass='direct'."
        )
    elif run.stuck:
        _warn_of_limit(
            f"{run.stuck} rows are wrong, but the order never visits them, and those it visits are right. "
            "Let it visit every row."
        )
    elif run.proof is not None:
        which = "hyperplane" if run.proof.bias else "hyperplane through the origin"
        _warn_of_limit(
            f"Training went in a cycle, and ended with pass {len(counts):,}: the weights are exactly what they "
            f"were before, because no {which} separates the data. "
            f"certificate_ is the proof, a combination of {named('row', run.proof.support)}. Use average=True, "
            "PocketPerceptron or SoftMarginClassifier."
        )
    elif run.stop_reason == "max_iter":
        limit = f"max_iter={p.max_iter}" if len(counts) == p.max_iter else f"the {len(counts)} listed"
        _warn_of_limit(
            f"Training ended after {limit} passes {reached}. {last} "
            + advice.format(amount="passes", limit="max_iter")
        )
    elif run.stop_reason == "max_time":
        _warn_of_limit(
            f"Training ended after max_time={p.max_time} seconds {reached}. {last} "
            + advice.format(amount="time", limit="max_time")
        )


def named(what: str, numbers: Sequence[int]) -> str:
    """Return numbers of things in words, the first of them if they are many.

    Examples
    --------
    >>> named("row", [0, 3]), named("row", range(20))
    ('rows 0, 3', 'rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more')
    """
    more = len(numbers) - LISTED
    shown = ", ".join(map(str, numbers[:LISTED])) + (f" and {more} more" if more > 0 else "")
    return f"{what}{'s' if len(numbers) > 1 else ''} {shown}"


def _warn_of_limit(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=4)
