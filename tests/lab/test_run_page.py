"""A run as a page, and in a notebook: a frame, or a widget where one is asked for."""

import html
import json
import re
import sys
from types import ModuleType

import pytest

import rosenblatt as rb
from rosenblatt import registry
from rosenblatt.exceptions import InputError
from rosenblatt.lab import run_page


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
    run_page._widget_class.cache_clear()
    yield
    run_page._widget_class.cache_clear()


def embedded(page):
    return json.loads(re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.S)[1])


def test_it_is_a_frame_that_exported_notebooks_show_offline(run, monkeypatch):
    """With or without anywidget: what it shows is in the notebook, and not in a network."""
    assert isinstance(rb.lab(*run), run_page.LabView)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert isinstance(rb.lab(*run), run_page.LabView)
    with pytest.raises(ImportError, match="pip install anywidget"):
        rb.lab(*run, widget=True)


def test_with_anywidget_it_follows_its_contract(run, monkeypatch):
    for name, content in (("anywidget", {"AnyWidget": Widget}), ("traitlets", {"Unicode": Trait, "Int": Trait})):
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    widget = rb.lab(*run, height=500, widget=True)
    assert type(widget).__name__ == "LabWidget"
    assert "render({ model, el })" in widget._esm
    (sandbox,) = re.findall(r'setAttribute\("sandbox", "([^"]*)"\)', widget._esm)
    assert sandbox == "allow-scripts allow-downloads"  # with "allow-same-origin" the page could reach the notebook
    assert widget.page.startswith("<!doctype html>")
    assert widget.height == 500
    assert type(widget).page.synced
    assert type(widget).height.synced


def test_the_real_anywidget_takes_it(run):
    pytest.importorskip("anywidget", reason="anywidget is not installed; no command here installs it")
    widget = rb.lab(*run, height=500, widget=True)
    assert widget.get_state(["page", "height"])["height"] == 500


def test_no_text_of_the_data_ends_the_element():
    document = {"name": "</script><script>alert(1)</script>"}
    page = run_page.run_page(document)
    assert "<script>alert" not in page
    assert embedded(page) == document


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(run):
    clf, X, y = run
    page = run_page.run_page(clf.trace_.to_document(X, y, reason=clf.stop_reason_))
    frame = run_page.LabView(page, height=640)._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    assert "height:640px" in frame
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])
    assert embedded(page)["end"]["reason"] == "separated"
    with pytest.raises(InputError, match="has no trace"):
        rb.lab(object(), X, y)


def test_without_its_data_a_run_cannot_be_shown(run):
    with pytest.raises(InputError, match=r"Pass the training data too: rb\.lab\(clf, X, y\)"):
        rb.lab(run[0])


REFUSALS = {
    "kernel": "lie in the kernel's space",
    "arow": "no place for variances",
    "scw": "no place for variances",
    "p-norm": "no place for variances",
    "mark-one": "made 512 features of 2, and its run is over those",
}


@pytest.mark.parametrize("learner", registry.commands())
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_every_learner_is_a_page_or_a_sentence(learner):
    X, y = rb.datasets.load_six_points()
    cls, fixed = registry.command(learner)
    model = cls(**fixed).fit(X, y)
    if hasattr(model, "trace_") and learner not in REFUSALS:
        assert embedded(rb.lab(model, X, y).page)["data"]["X"] == X.tolist()
        return
    with pytest.raises(InputError, match=REFUSALS.get(learner, "has no trace to show")):
        rb.lab(model, X, y)


@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_the_features_of_a_mark_one_are_shown_as_the_error_says():
    X, y = rb.datasets.load_six_points()
    machine = rb.MarkOne().fit(X, y)
    made = machine.associate(X)
    assert embedded(rb.lab(machine.trace_, made, y).page)["data"]["X"] == made.tolist()


@pytest.mark.parametrize(
    "clf, rule",
    [
        (rb.Perceptron(margin=(0.25, 1.0)), {"margin": 0.25, "margin_minus": 1.0, "eta": 1.0, "tie": "mistake"}),
        (rb.Perceptron(class_weight={-1: 2.0}), {"weights": [2.0, 1.0]}),
        (rb.PassiveAggressiveClassifier(C=0.5), {"kind": "passive", "most": 0.5, "soft": 0.0, "margin": 1.0}),
        (rb.PassiveAggressiveClassifier(loss="squared_hinge"), {"most": None, "soft": 0.5}),
        (rb.LiftedPerceptron(), {"kind": "lifted", "square": 0.25}),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.filterwarnings("ignore:.*:sklearn.exceptions.ConvergenceWarning")
def test_a_run_comes_with_the_rule_of_its_estimator(clf, rule):
    X, y = rb.datasets.load_six_points()
    page = rb.lab(clf.fit(X, y), X, y).page
    assert embedded(page)["rule"].items() >= rule.items()
    assert '"eta": null' in rb.lab(clf.trace_, X, y).page  # a trace alone does not know its rule
