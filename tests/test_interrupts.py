"""Ctrl-C is never lost, wherever it falls, and the handler is what it was before."""

# ruff: noqa: PT012  what happens before the interrupt is the test

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from queue import Empty, Queue

import pytest

import rosenblatt as rb
from rosenblatt.stopping import interruptible, stop_if_interrupted
from tests.shared.killing import KILLS, ROOT
from tests.shared.strategies import noisy, separable

PATIENCE = 600.0  # seconds until an interrupt counts as lost: busy machines take long to load compiled loops
X, Y = noisy(50, 3)
ENDLESS = {"max_iter": 10**9, "n_iter_no_change": 10**9}


def press():
    signal.raise_signal(signal.SIGINT)


def press_in(epoch):
    return lambda report: press() if report.epoch == epoch else None


@pytest.fixture(autouse=True)
def handler():
    """Let tests install what they like."""
    before = signal.getsignal(signal.SIGINT)
    yield before
    signal.signal(signal.SIGINT, before)


def test_it_is_raised_where_it_is_asked_for():
    made = []
    with pytest.raises(KeyboardInterrupt), interruptible():
        press()
        made.append("after the key")
        stop_if_interrupted()
        made.append("too late")
    assert made == ["after the key"]


def test_it_is_raised_at_the_end_if_nobody_asks(handler):
    made = []
    with pytest.raises(KeyboardInterrupt), interruptible():
        press()
        made.append("all")
    assert made == ["all"]
    assert signal.getsignal(signal.SIGINT) is handler


def test_the_second_is_raised_at_once_and_both_once():
    with pytest.raises(KeyboardInterrupt), interruptible():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()
        raise KeyboardInterrupt
    stop_if_interrupted()


def test_while_the_first_is_on_its_way_others_are_raised_at_once():
    with pytest.raises(KeyboardInterrupt), interruptible():
        press()
        try:
            stop_if_interrupted()
        finally:
            with pytest.raises(KeyboardInterrupt):
                press()


def test_one_that_was_caught_is_over():
    with interruptible():
        press()
        with pytest.raises(KeyboardInterrupt):
            stop_if_interrupted()
        stop_if_interrupted()
    with pytest.raises(KeyboardInterrupt), interruptible():
        press()


def test_after_an_error_it_is_raised_all_the_same(handler):
    with pytest.raises(KeyboardInterrupt) as caught, interruptible():
        press()
        raise ValueError
    assert isinstance(caught.value.__context__, ValueError)
    assert signal.getsignal(signal.SIGINT) is handler


def test_blocks_within_blocks():
    made = []
    with pytest.raises(KeyboardInterrupt), interruptible():
        with interruptible():
            press()
            made.append("inner")
        made.append("outer")
        with interruptible():
            stop_if_interrupted()
    assert made == ["inner", "outer"]


def test_one_between_two_fits_does_not_disarm_the_next(monkeypatch, handler):
    """The handler that was put back may raise before the block has come to its end."""
    real = signal.signal

    def interrupted(number, new):
        real(number, new)
        if new is handler:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(signal, "signal", interrupted)
        with pytest.raises(KeyboardInterrupt), interruptible():
            pass
    made = []
    with pytest.raises(KeyboardInterrupt), interruptible():
        press()
        made.append("noted")
    assert made == ["noted"]


def test_other_threads_change_nothing(handler):
    found = []

    def work():
        with interruptible():
            found.append(signal.getsignal(signal.SIGINT))
            stop_if_interrupted()
        rb.Perceptron().fit(*separable(20, 2))
        found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [handler, handler]


def test_another_thread_does_not_take_the_interrupt_of_the_main_one():
    with pytest.raises(KeyboardInterrupt), interruptible():
        press()
        thread = threading.Thread(target=stop_if_interrupted)
        thread.start()
        thread.join()
        stop_if_interrupted()


@pytest.mark.parametrize("other", [signal.SIG_IGN, signal.SIG_DFL])
def test_handlers_that_are_not_of_python_stay(other):
    signal.signal(signal.SIGINT, other)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) == other
        if other == signal.SIG_IGN:
            press()
            stop_if_interrupted()


def test_a_handler_of_the_users_is_called_and_stays():
    called = []

    def own(number, frame):
        called.append((number, frame is not None))

    signal.signal(signal.SIGINT, own)
    passes = []
    clf = rb.Perceptron(max_iter=4, callbacks=[press_in(2), lambda report: passes.append(list(called))])
    with pytest.warns(UserWarning, match="max_iter=4"):
        clf.fit(X, Y)
    assert clf.n_iter_ == 4
    assert passes == [[], [], [(signal.SIGINT, True)], [(signal.SIGINT, True)]]
    assert signal.getsignal(signal.SIGINT) is own


def test_a_handler_installed_during_a_fit_stays():
    def own(number, frame):
        raise AssertionError

    clf = rb.Perceptron(max_iter=2, callbacks=[lambda report: signal.signal(signal.SIGINT, own) and None])
    with pytest.warns(UserWarning, match="max_iter=2"):
        clf.fit(X, Y)
    assert signal.getsignal(signal.SIGINT) is own


def test_it_ends_a_fit_after_the_pass(handler):
    clf = rb.Perceptron(callbacks=[press_in(3)], **ENDLESS)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert (clf.stop_reason_, clf.n_iter_) == ("interrupted", 3)
    assert signal.getsignal(signal.SIGINT) is handler


def test_too_late_to_change_anything_it_is_raised_after_publishing():
    clf = rb.Perceptron(callbacks=[lambda report: report.mistakes == 0 and press()])
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*separable(50, 3))
    assert clf.stop_reason_ == "separated"


def test_a_callback_that_hangs_is_left_by_the_second():
    def hangs(report):
        press()
        press()
        raise AssertionError("the second was not raised")

    clf = rb.Perceptron(callbacks=[hangs], **ENDLESS)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert (clf.stop_reason_, clf.n_iter_) == ("interrupted", 1)


@pytest.mark.parametrize("own", [rb.Perceptron, rb.MultilayerPerceptron])
def test_a_fit_within_a_callback_of_another(own):
    inner = own(callbacks=[press_in(2)], **ENDLESS)
    outer = rb.Perceptron(callbacks=[lambda report: inner.fit(X, Y) if report.epoch == 3 else None], **ENDLESS)
    with pytest.raises(KeyboardInterrupt):
        outer.fit(X, Y)
    assert (inner.stop_reason_, inner.n_iter_) == ("interrupted", 2)
    assert (outer.stop_reason_, outer.n_iter_) == ("interrupted", 3)


def test_the_machine_around_a_fit_is_published():
    machine = rb.MarkOne(20, callbacks=[press_in(2)], **ENDLESS)
    with pytest.raises(KeyboardInterrupt):
        machine.fit(*noisy(50, 9))
    assert (machine.stop_reason_, machine.n_iter_) == ("interrupted", 2)


def test_a_soft_margin_is_the_best_so_far(monkeypatch):
    from rosenblatt.margins import softest as soft_margin

    judge = soft_margin._Pursuit.judge
    monkeypatch.setattr(soft_margin._Pursuit, "judge", lambda self, iterate: press() or judge(self, iterate))
    clf = rb.SoftMarginClassifier(tol=1e-9)  # one step is not enough
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert clf.stop_reason_ == "interrupted"


def _dropped(errors):
    """Return how many interrupts fell into a finalizer: Python says so, and drops them."""
    return Path(errors.name).read_text(encoding="utf-8", errors="replace").count("Exception ignored in")


def _answer(child, lines, errors):
    """Interrupt a fit, once more if Python dropped the interrupt, and return how it ended."""
    for _ in range(10):
        before = _dropped(errors)
        child.send_signal(signal.SIGINT)
        for _ in range(int(PATIENCE / 10)):
            try:
                return lines.get(timeout=10)
            except Empty:
                if _dropped(errors) > before:
                    break
    raise Empty


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(signal, "pthread_sigmask"),
    reason="signals are blocked by pthread_sigmask, which this system lacks",
)
def test_at_random_moments(tmp_path):
    """As many as KILLS says, many of them under load; each must end the training that it falls into."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.shared.interrupting", str(tmp_path)]
    load = (os.cpu_count() or 1) if KILLS >= 100 else 0
    burning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    rng, outcomes, kind = random.Random(0), Counter(), ""
    lines: Queue[str] = Queue()
    with (tmp_path / "errors").open("w+") as errors:
        child = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        reader = threading.Thread(target=lambda: [lines.put(line) for line in child.stdout])
        reader.start()
        try:
            for _ in range(KILLS):
                kind = lines.get(timeout=PATIENCE).removeprefix("begin ").strip()
                time.sleep(rng.choice([0.0, rng.uniform(0.0, 0.01), rng.uniform(0.0, 0.2)]))
                outcomes[kind, _answer(child, lines, errors).split()[-1]] += 1
        except Empty:
            errors.seek(0)
            pytest.fail(f"after {outcomes} no answer to an interrupt of {kind}: {errors.read()[-3000:]}")
        finally:
            for process in (*burning, child):
                process.kill()
                process.wait()
            reader.join()
            child.stdout.close()
    print(sorted(outcomes.items()))
    assert outcomes.total() == KILLS
    ended = {"interrupted", "untrained"}
    assert all(kind == "short" or reason in ended for kind, reason in outcomes), outcomes
