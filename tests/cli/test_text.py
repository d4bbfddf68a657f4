"""Tables with a column of texts, at the first command as typed."""

import json
from random import Random

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt.models.files import open_model
from rosenblatt.tables import preparation
from rosenblatt.tables.words import bucket, grams

SPAM = [
    "you have won a prize of",
    "claim your free voucher now",
    "text WIN to this number to enter",
    "urgent call",
]
HAM = [
    "are you coming home for dinner",
    "see you at the station then",
    "sorry I am late again",
    "ok call me later",
]


def messages(n=60, seed=0):
    random = Random(seed)
    for k in range(n):
        label, phrases = ("spam", SPAM) if k % 3 == 0 else ("ham", HAM)
        yield label, f"{random.choice(phrases)} and {random.choice(phrases)}, number {random.randrange(10**6)}"


def write_sms(path, n=60, seed=0):
    path.write_text("".join(f"{label}\t{text}\n" for label, text in messages(n, seed)), encoding="utf-8")


def write_csv(path, *, header="label,message", extra=""):
    rows = [f'{label},"{text}"{extra}' for label, text in messages()]
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def notes(ran):
    return [line for line in ran.err.splitlines() if line.startswith("note: ")]


def test_label_tab_message_without_a_header_trains_at_the_first_command(run, tmp_path):
    write_sms(tmp_path / "SMSSpamCollection")
    ran = run("train", "SMSSpamCollection", "-o", "sms.model")
    assert ran.code == 0, ran
    assert ran.out.startswith("averaged-pa1: 60 rows, 262,144 features, 2 classes (ham 40, spam 20)\n")
    assert notes(ran) == [
        "note: 'x1' was taken as the target, because 'x2' holds texts; --target x2 takes 'x2'",
        "note: 'x2' holds texts and was read as words; --categorical x2 takes each as a category",
    ]
    write_sms(tmp_path / "more", seed=1)
    found = json.loads(run("evaluate", "sms.model", "more", "--json").out)
    assert found["accuracy"] == 1.0
    (tmp_path / "new.txt").write_text("claim your prize of a free voucher\nsee you home for dinner\n")
    assert run("predict", "sms.model", "new.txt", "-q").out.split() == ["spam", "ham"]


def test_a_column_of_texts_is_recognised_by_its_values(run, tmp_path):
    write_csv(tmp_path / "t.csv")
    ran = run("train", "t.csv", "-o", "m")
    assert notes(ran) == [
        "note: 'message' holds texts and was read as words; --categorical message takes each as a category"
    ]
    assert "averaged-pa1: " in ran.out
    named = run("train", "t.csv", "--text", "message", "-o", "n")
    assert notes(named) == []
    assert named.out.splitlines()[0] == ran.out.splitlines()[0]
    categories = run("train", "t.csv", "--categorical", "message", "-o", "m")
    assert categories.out.startswith("averaged-pa1: 60 rows, 60 features")


def test_two_columns_of_texts_are_named_by_the_user(run, tmp_path):
    rows = [f'{label},"{text}","{text} {k}"' for k, (label, text) in enumerate(messages())]
    (tmp_path / "t.csv").write_text("\n".join(["label,subject,body", *rows]) + "\n")
    assert "2 category columns" in run("train", "t.csv", "-o", "m").err
    assert "2 texts" in run("train", "t.csv", "--text", "subject,body", "-o", "m").err


@pytest.mark.parametrize(
    "value", ["Braund, Mr. Owen Harris {}", "{} Main Street", "a sentence that is the same in every row"]
)
def test_names_and_repeated_strings_stay_categories(run, tmp_path, value):
    rows = [f'{k % 2},"{value.format(k)}"' for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["label,name", *rows]) + "\n")
    assert "1 category column" in run("train", "t.csv", "-o", "m").err


def test_the_default_learner_of_texts_can_be_chosen(run, tmp_path):
    write_csv(tmp_path / "t.csv")
    for options, learner in (
        ([], "averaged-pa1"),
        (["--weighting", "count"], "averaged-pa1"),
        (["--learner", "averaged"], "averaged"),
        (["--learner", "arow"], "arow"),
        (["--ignore", "message", "--target", "label"], None),
    ):
        ran = run("train", "t.csv", "-o", "m", *options)
        if learner is None:
            assert ran.code == 2
        else:
            assert ran.out.startswith(f"{learner}: "), ran
    found = json.loads(run("evaluate", "--cv", "3", "t.csv", "--json").out)
    assert found["learner"] == "averaged-pa1"


def test_a_model_refuses_another_weighting(run, tmp_path):
    write_csv(tmp_path / "t.csv")
    run("train", "t.csv", "-o", "m", "-q")
    ran = run("predict", "m", "t.csv", "--weighting", "count")
    assert ran.code == 2
    assert "the model reads columns as it did in training. Drop --weighting." in ran.err


@pytest.mark.parametrize(
    ("typed", "kept"), [("2", 2), ("1-2", 2), ("2-3", "2-3"), ("char:3-5", "char:3-5"), ("char:4", "char:4-4")]
)
def test_runs_of_words_and_of_characters_as_typed(run, tmp_path, typed, kept):
    write_csv(tmp_path / "mail.csv")
    ran = run("train", "mail.csv", "-o", "m", "--ngrams", typed, "--bits", "12", "--holdout", "0.3")
    assert ran.code == 0
    assert rb.load(tmp_path / "m").named_steps["encoder"].ngrams == kept
    assert run("predict", "m", "mail.csv", "--quiet").out.splitlines()[:3] == ["spam", "ham", "ham"]


@pytest.mark.parametrize("typed", ["0", "3-2", "char:", "word:2", "1-99"])
def test_runs_that_are_none(run, tmp_path, typed):
    write_csv(tmp_path / "mail.csv")
    ran = run("train", "mail.csv", "-o", "m", "--ngrams", typed)
    assert ran.code == 2
    assert "lengths such as '1-2', or 'char:2-5' for characters" in " ".join(ran.err.replace("│", " ").split())


@pytest.mark.parametrize(("option", "first"), [([], "message=dinner"), (["--ngrams", "2"], "message=dinner and")])
def test_inspect_explain_and_report_name_words_without_being_asked(tmp_path, run, option, first):
    write_csv(tmp_path / "mail.csv")
    assert run("train", "mail.csv", "-o", "m.model", *option, "-q").code == 0
    known = {bucket(gram, 18) for _, text in messages() for gram in grams(text.encode(), 2)}
    told = json.loads(run("inspect", "m.model", "--weights", "400", "--json").out)["weights"]
    assert first in {each["feature"] for each in told}
    named = [each["feature"].partition("=")[2] for each in told if each["weight"]]
    assert len(named) > 20
    assert all(bucket(word.encode(), 18) in known for word in named)
    assert "message=" in run("explain", "m.model", "mail.csv", "--row", "1").out
    assert run("train", "mail.csv", "-o", "none.model", "-q", "--no-vocabulary").code == 0
    assert "message#" in run("inspect", "none.model").out


def words_of(path):
    return [dict(each) for each in open_model(path).preparation.recipe.words]


def test_a_model_keeps_the_words_of_the_largest_weights(tmp_path, monkeypatch):
    write_csv(tmp_path / "mail.csv")
    whole = rb.train(tmp_path / "mail.csv", vocabulary=True)
    monkeypatch.setattr(preparation, "MOST_WORDS", 5)
    trained = rb.train(tmp_path / "mail.csv")
    trained.save(tmp_path / "m.model")
    [kept] = words_of(tmp_path / "m.model")
    weights = np.abs(trained.model[-1].coef_[0])
    assert len(kept) == 5
    assert min(weights[[*kept]]) >= np.sort(weights)[-5]
    # Through a cache, new or used again, the model is the same; words that were asked for stay.
    for _ in range(2):
        rb.train(tmp_path / "mail.csv", memory=1, cache=tmp_path / "rows").save(tmp_path / "cached.model")
        assert words_of(tmp_path / "cached.model") == [kept]
    whole.save(tmp_path / "whole.model")
    rb.save(rb.load(tmp_path / "whole.model"), tmp_path / "again.model")
    assert len(words_of(tmp_path / "again.model")[0]) == len(words_of(tmp_path / "whole.model")[0]) > 20
    texts, labels = [text for _, text in messages()], [label for label, _ in messages()]
    pipeline = make_pipeline(rb.TableEncoder(), rb.Perceptron(average=True)).fit(texts, labels)
    assert len(pipeline[0].encoding_.recipe.words[0]) > 20
    rb.save(pipeline, tmp_path / "pipeline.model")
    assert len(words_of(tmp_path / "pipeline.model")[0]) == 5
