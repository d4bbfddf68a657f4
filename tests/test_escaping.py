"""What notebooks show of results: tables of text, in which nothing from the data is markup."""

import re
import sys
import warnings
from dataclasses import dataclass
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import rosenblatt as rb
from rosenblatt.escaping import Html, ShowsText, html_bar, html_card, html_table, html_text

HOSTILE = '<script>alert("x")</script>&\x1b[1m'
X, Y = rb.datasets.load_six_points()


class Tags(HTMLParser):
    """Reads a page; every tag must be closed, but for those that never are."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.text = [], set(), []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in ("img",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_text_is_escaped_and_markup_of_ours_is_not():
    assert html_text("<a> & 'b'\x07") == "&lt;a&gt; &amp; &#x27;b&#x27;\\x07"
    assert html_text(Html("<b>")) == "<b>"
    page = html_table([HOSTILE, "n"], [[HOSTILE, 1234567], [html_bar(0.5), 0.5], [None, "1,2"]])
    assert Tags(page).seen == {"table", "thead", "tbody", "tr", "th", "td", "div"}
    assert "1,234,567" in page
    assert page.count("text-align:right") == 4  # the numbers and their heading
    assert Tags(html_card(HOSTILE, HOSTILE, facts=[(HOSTILE, HOSTILE)])).seen == {
        "div",
        "strong",
        "table",
        "tbody",
        "tr",
        "td",
    }


def results():
    hostile = np.where(Y > 0, HOSTILE, "other")
    frame = pd.DataFrame(X, columns=[HOSTILE, "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rb.Perceptron(order="cyclic").fit(frame, hostile)
        three = rb.certify(np.vstack([X, X + 9]), [*hostile, *["third"] * 6])
    yield "separable", rb.certify(frame, hostile)
    yield "inseparable", rb.certify(*rb.datasets.load_xor())
    yield "several classes", three
    yield "trace", model.trace_
    yield "bounds", rb.bounds(frame, hostile, model=model)
    yield "evaluation", rb.evaluate(model, frame, hostile)
    yield "explanation", rb.explain(model, frame)
    yield "training", rb.train(frame.assign(label=hostile), target="label")
    yield "summary", rb.train("@six-points").summary
    yield "folds", rb.evaluate_folds("averaged", "@iris", folds=2)
    direct = rb.certify(np.vstack([X, X + 9]), [*hostile, *["third"] * 6], multiclass="direct")
    yield "direct", direct
    yield "undecided", rb.certify(*rb.datasets.make_separable(400, 9, margin=1e-3, seed=0), time_limit=1e-9)
    tagged = [[(HOSTILE, "DET"), ("dog", "NOUN")], [("dogs", "NOUN"), ("bark", "VERB")]]
    tagger = rb.train(tagged)
    yield "tagger", tagger
    yield "tagger summary", tagger.summary
    yield "tags", tagger.summary.trained_on
    probes = rb.Probes().fit(X, [[label] for label in Y])
    yield "probes", probes.table()
    regression = rb.PassiveAggressiveRegressor(max_iter=500).fit(X, X[:, 0])
    yield "numbers", rb.evaluate(regression, X, X[:, 0])


RESULTS = dict(results())


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_shows_itself_and_no_markup_of_the_data(name):
    page = RESULTS[name]._repr_html_()
    tags = Tags(page)
    assert tags.seen <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "pre"}
    assert "\x1b" not in page
    words = set(re.findall(r"[a-z]{4,}", " ".join(tags.text).lower()))
    assert len(words) >= 3


@pytest.mark.parametrize("name", RESULTS)
def test_without_html_ipython_shows_the_text_of_print(name):
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    assert formatters.PlainTextFormatter()(RESULTS[name]) == str(RESULTS[name])


def test_every_class_of_results_has_its_own_text_for_ipython():
    """Also those with slots, which a decorator makes twice."""

    @dataclass(frozen=True, slots=True)
    class Twice(ShowsText):
        n: int

        def __str__(self):
            return f"twice {self.n}"

    class Own(Twice):
        def _repr_pretty_(self, printer, cycle):
            printer.text("own")

    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    shown = formatters.PlainTextFormatter()
    assert (shown(Twice(3)), shown(Own(3))) == ("twice 3", "own")
    assert all("_repr_pretty_" in vars(kind) for kind in below(ShowsText))


def below(kind):
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


@pytest.mark.parametrize("name", RESULTS)
def test_titles_are_words(name):
    title = re.search("<strong>(.*?)</strong>", RESULTS[name]._repr_html_())[1]
    assert not re.match("[A-Z][a-z]+[A-Z]", title)


def test_an_evaluation_shows_the_same_figures_as_its_text():
    found = RESULTS["folds"].total
    text, page = str(found), " ".join(Tags(found._repr_html_()).text)
    numbers = re.findall(r"\d+\.\d{4}", text)
    assert len(numbers) > 10
    assert all(number in page for number in numbers)


def test_a_fitted_estimator_shows_how_training_went():
    model = rb.Perceptron(order="cyclic")
    assert "Training" not in model._repr_mimebundle_()["text/html"]
    bundle = model.fit(X, Y)._repr_mimebundle_()
    assert bundle["text/plain"] == "Perceptron(order='cyclic')"
    for page in (bundle["text/html"], model._repr_html_()):
        shown = re.sub(r"<[^>]*>", "|", page[page.index("<strong>Training") :])
        assert [each for each in shown.split("|") if each] == [
            *("Training", "ended by", "separated", "passes", "2", "mistakes", "3"),
            *("separates its training rows", "yes"),
        ]
    shown = rb.KernelPerceptron(kernel="rbf").fit(X, Y)._repr_mimebundle_()["text/html"]
    assert "<strong>Training</strong>" in shown


def test_long_traces_show_their_ends():
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = rb.Perceptron(max_iter=12, decide=False, n_iter_no_change=20).fit(rows, labels).trace_
    page = trace._repr_html_()
    assert page.count("…") == 2
    assert page.count("<tr>") == 2 * (1 + 5 + 1 + 5)


@pytest.mark.parametrize("suffix", ["gif", "html"])
def test_an_animation_is_a_path_that_shows_the_file(suffix, tmp_path):
    model = rb.Perceptron(order="cyclic").fit(X, Y)
    made = rb.plot.animate(model, X, Y, tmp_path / f"run.{suffix}")
    assert made == tmp_path / f"run.{suffix}"
    assert made.parent == tmp_path
    page = made._repr_html_()
    assert page.startswith(
        '<img alt="run.gif" src="data:image/gif;base64,R0lGOD' if suffix == "gif" else "<iframe sandbox="
    )
    assert not re.search(r"(src|href)=.?https?:", page)
    made.unlink()
    assert made._repr_html_() == str(made)


def test_escaping_needs_no_library():
    assert "numpy" not in vars(sys.modules["rosenblatt.escaping"])
