"""The screen reads less and decides the same: through the fit loop, bit for bit."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.learning.fit_loop import fit
from rosenblatt.learning.linear import Scheme
from rosenblatt.learning.plan import Plan
from rosenblatt.learning.state import State
from rosenblatt.loops.order import make_order
from rosenblatt.loops.rules import Rule, tie_shares
from rosenblatt.rows.batch import as_batch
from tests.shared.examples import examples
from tests.shared.strategies import noisy, problems


def _run(X, y, *, screened, rule=Rule(), average=False, seed=0, passes=6, weight=None, **plan):  # noqa: B008
    batch = as_batch(X, y, weight)
    order = make_order(plan.pop("order", "shuffle"), batch.n_rows, seed)
    settings = Plan(rule=rule, order=order, scheme=Scheme("binary", 2), max_iter=passes, screened=screened, **plan)
    start = State.zero((batch.n_features + 1,), average=average)
    return fit(batch, settings, start)


def _told(run):
    kept = run.trace.mistakes
    state = run.state
    return (
        state.w.tobytes(),
        None if state.u is None else state.u.tobytes(),
        state.visits,
        run.stop_reason,
        tuple(run.mistakes_per_pass),
        *(column.tobytes() for column in kept),
    )


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("order", ["shuffle", "cyclic", "random"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_on_floats(dtype, order, average):
    X, y = noisy(300, 70, dtype=dtype, flip=0.02)
    rule = Rule(eta=0.1, margin=0.5)
    runs = [_run(X, y, screened=s, rule=rule, order=order, average=average, passes=12) for s in (False, True)]
    assert _told(runs[0]) == _told(runs[1])


@settings(max_examples=examples(100))
@given(problems(), st.sampled_from(["mistake", "sign", "half", "correct"]), st.sampled_from([0.0, 1.0]), st.data())
def test_on_ties(problem, tie, margin, data):
    X, y = problem
    rule = Rule(1.0, 1.0, margin, *tie_shares(tie, -1))
    weight = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(y), max_size=len(y)))
    runs = [_run(X, y, screened=s, rule=rule, weight=weight) for s in (False, True)]
    assert _told(runs[0]) == _told(runs[1])


def test_with_rows_held_out():
    X, y = noisy(300, 20)
    runs = [_run(X, y, screened=s, held_out=np.arange(0, 300, 7), passes=15) for s in (False, True)]
    assert _told(runs[0]) == _told(runs[1])
    assert not np.isin(runs[1].trace.index, np.arange(0, 300, 7)).any()


def test_a_bad_value_is_found_there_too():
    X, y = noisy(50, 20)
    X[41, 3] = np.nan
    with pytest.raises(ValueError, match="row 41, column 3"):
        _run(X, y, screened=True)


@pytest.mark.parametrize("block", [1, 7, 50, 1000])
@pytest.mark.parametrize("screened", [False, True])
def test_visits_in_blocks_are_the_same_visits(monkeypatch, block, screened):
    X, y = noisy(50, 20)
    whole = _run(X, y, screened=screened, average=True)
    monkeypatch.setattr("rosenblatt.learning.visitor.BLOCK_MISTAKES", block)
    assert _told(_run(X, y, screened=screened, average=True)) == _told(whole)


def test_callbacks_come_before_the_next_pass():
    X, y = noisy(50, 3)
    asked, passes = [], count(1)

    def order(epoch):
        assert epoch == next(passes)
        asked.append(("order", epoch))
        return np.arange(50)

    _run(X, y, screened=None, order=order, passes=3, callbacks=[lambda r: asked.append(("report", r.epoch))])
    assert asked == [(what, epoch) for epoch in (1, 2, 3) for what in ("order", "report")]
