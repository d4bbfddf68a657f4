"""The lab in a notebook: a frame, or a widget where anywidget is installed."""

import sys
from types import ModuleType

import pytest

import rosenblatt as rb
from rosenblatt.plot import notebook


class Trait:
    """A trait of traitlets, as far as the widget needs it."""

    def __init__(self, default=None):
        self.default, self.synced = default, False

    def tag(self, *, sync):
        self.synced = sync
        return self


class Widget:
    """A widget of anywidget, as far as the lab needs it."""

    def __init__(self, **values):
        vars(self).update(values)


@pytest.fixture
def run():
    X, y = rb.datasets.load_six_points()
    return rb.Perceptron(order="cyclic").fit(X, y), X, y


@pytest.fixture(autouse=True)
def fresh():
    notebook._widget_class.cache_clear()
    yield
    notebook._widget_class.cache_clear()


def test_without_anywidget_it_is_a_frame(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert isinstance(rb.lab(*run), notebook.LabView)


def test_with_anywidget_it_follows_its_contract(run, monkeypatch):
    for name, content in (("anywidget", {"AnyWidget": Widget}), ("traitlets", {"Unicode": Trait, "Int": Trait})):
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    widget = rb.lab(*run, height=500)
    assert type(widget).__name__ == "LabWidget"
    assert "render({ model, el })" in widget._esm
    assert widget.page.startswith("<!doctype html>")
    assert widget.height == 500
    assert type(widget).page.synced
    assert type(widget).height.synced


def test_the_real_anywidget_takes_it(run):
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    widget = rb.lab(*run, height=500)
    assert widget.get_state(["page", "height"])["height"] == 500
