"""The way from `fit` to the compiled loop is short."""

import sys
from pathlib import Path

import pytest

import rosenblatt as rb
from rosenblatt.learning import visitor
from rosenblatt.rows.batch import as_batch
from rosenblatt.tables.blocks import MemoryBlocks
from tests.shared.strategies import noisy, quietly
from tests.tables.sources import everywhere

MOST_FRAMES = 9
MOST_MODULES = 4
X, Y = noisy(60, 3)


def way(monkeypatch, function, *arguments):
    """Return the frames from a call to the compiled loop, the loop included."""
    loop, found = visitor.passes.train, []

    def train(*given):
        frame = sys._getframe(1)
        while frame is not None and found[:1] != [function.__func__.__code__]:
            found.insert(0, frame.f_code)
            frame = frame.f_back
        return loop(*given)

    with monkeypatch.context() as patch:
        patch.setattr(visitor.passes, "train", train)
        quietly(function, *arguments)
    return [*found, train.__code__]


def test_in_memory(monkeypatch):
    frames = way(monkeypatch, rb.Perceptron(max_iter=1).fit, X, Y)
    assert len(frames) <= MOST_FRAMES, [code.co_qualname for code in frames]
    assert len({code.co_filename for code in frames[:-1]}) <= MOST_MODULES


@pytest.mark.parametrize("kind", ["memory", "cache", "streamed"])
def test_in_blocks(monkeypatch, tmp_path, kind):
    blocks = everywhere(X, Y, tmp_path, block_bytes=300)[kind]
    frames = way(monkeypatch, rb.Perceptron(max_iter=1).fit_blocks, blocks)
    assert len(frames) <= MOST_FRAMES, [code.co_qualname for code in frames]


def test_fit_is_fit_blocks_of_one_block(monkeypatch):
    blocks = MemoryBlocks(as_batch(X, Y))
    ways = [
        way(monkeypatch, rb.Perceptron(max_iter=1).fit, X, Y),
        way(monkeypatch, rb.Perceptron(max_iter=1).fit_blocks, blocks),
    ]
    assert ways[0][1:-1] == ways[1][1:-1]


def test_the_private_modules_are_few():
    folder = Path(rb.__file__).parent / "estimators"
    assert len(list(folder.glob("_[a-z]*.py"))) <= 12
