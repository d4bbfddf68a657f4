"""Each option of `train` has an effect or is refused: for sentences, and where all rows are kept in memory."""

import json

import click
import pytest

import rosenblatt as rb
from rosenblatt.cli.options import as_option, in_options
from rosenblatt.cli.train import train
from rosenblatt.exceptions import ParameterError
from rosenblatt.parameters import UNUSED, TrainingArguments
from tests.cli.test_sentences import conllu

TABLE = "a,b,day,kind,text,label\n" + "".join(
    f"{k % 7},{'' if k % 9 == 0 else k % 5 + 0.5},2024-{k % 12 + 1:02}-03,k{k % 2},win a "
    f"{'prüze' if k % 3 else 'cup'},{'yes' if k % 7 + k % 2 > 3 else 'no'}\n"
    for k in range(60)
)
NUMBERS = "a,b,label\n" + "".join(f"{k % 7},{k % 5},{'yes' if k % 7 > 3 else 'no'}\n" for k in range(60))
HOW_IT_IS_SAID = {"path", "as_json", "quiet", "verbose", "debug", "jobs"}
"""Options of all commands, which change nothing about a model."""
REFUSED, TAKEN, KEPT = "refused", "taken", "keeps a checkpoint, which is gone when training ends"

# Of each option: what is typed, and what becomes of it for sentences and for a table with the learner voted.
OPTIONS = {
    "learner": ("--learner voted", REFUSED, "default"),
    "scale": ("--no-scale", REFUSED, TAKEN),
    "online_scale": ("--online-scale", REFUSED, TAKEN),
    "holdout": ("--holdout 0.4", TAKEN, TAKEN),
    "min_class": ("--min-class 30:few", REFUSED, TAKEN),
    "probabilities": ("--probabilities sigmoid", REFUSED, TAKEN),
    "label": ("--label xpos", TAKEN, "sentences"),
    "columns": ("--columns form,xpos --label upos", TAKEN, REFUSED),
    "every": ("--checkpoint 1", KEPT, REFUSED),
    "resume": ("--resume", KEPT, REFUSED),
    "memory": ("--memory 5", REFUSED, REFUSED),
    "cache": ("--cache rows.cache", REFUSED, REFUSED),
    "no_cache": ("--no-cache", REFUSED, REFUSED),
    "address": ("--dask tcp://127.0.0.1:1", REFUSED, "cluster"),
    "workers": ("--workers 1", REFUSED, "cluster"),
    "mixing": ("--mixing mistakes", REFUSED, REFUSED),
    "max_iter": ("--max-iter 2", TAKEN, TAKEN),
    "max_time": ("--max-time 90", TAKEN, TAKEN),
    "n_iter_no_change": ("--n-iter-no-change 1", REFUSED, TAKEN),
    "tol": ("--tol 0.1", REFUSED, TAKEN),
    "early_stopping": ("--early-stopping", REFUSED, REFUSED),
    "eta0": ("--eta0 0.5", REFUSED, TAKEN),
    "bias": ("--bias none", REFUSED, TAKEN),
    "margin": ("--margin 2", TAKEN, TAKEN),
    "order": ("--order cyclic", REFUSED, TAKEN),
    "multiclass": ("--multiclass ovr", REFUSED, TAKEN),
    "class_weight": ("--class-weight balanced", REFUSED, TAKEN),
    "kernel": ("--kernel rbf", REFUSED, REFUSED),
    "budget": ("--budget 5", REFUSED, REFUSED),
    "settings": ("--set shuffle=false", TAKEN, TAKEN),
    "seed": ("--seed 3", TAKEN, TAKEN),
    "target": ("--target kind", REFUSED, TAKEN),
    "features": ("--features a", REFUSED, TAKEN),
    "ignore": ("--ignore a", REFUSED, TAKEN),
    "text": ("--text kind", REFUSED, TAKEN),
    "categorical": ("--categorical a", REFUSED, TAKEN),
    "hashed": ("--hashed kind", REFUSED, TAKEN),
    "ngrams": ("--ngrams 2", REFUSED, TAKEN),
    "weighting": ("--weighting count", REFUSED, TAKEN),
    "bits": ("--bits 6", REFUSED, TAKEN),
    "vocabulary": ("--no-vocabulary", REFUSED, TAKEN),
    "missing": ("--missing zero", REFUSED, TAKEN),
    "date": ("--date none", REFUSED, TAKEN),
    "na": ("--na 3", REFUSED, TAKEN),
    "skip_bad": ("--skip-bad", REFUSED, "bad rows"),
    "format": ("--format conll", TAKEN, "sentences"),
    "header": ("--no-header", REFUSED, "unlike the file"),
    "delimiter": ("--delimiter ;", REFUSED, "unlike the file"),
    "decimal": ("--decimal ,", REFUSED, "unlike the file"),
    "thousands": ("--thousands ,", REFUSED, "unlike the file"),
    "encoding": ("--encoding latin-1", TAKEN, TAKEN),
    "zero_based": ("--zero-based", REFUSED, REFUSED),
}


def test_every_option_is_tried():
    options = {each.name for each in train.params if isinstance(each, click.Option)}
    assert OPTIONS.keys() == options - HOW_IT_IS_SAID
    assert {name for name, each in TrainingArguments._declared.items() if each.needs} <= OPTIONS.keys() | {
        "checkpoint"
    }


def trained(run, folder, *command):
    """Return what a training leaves behind, but for the time that it takes."""
    ran = run("train", *command, "-o", "m", "--json")
    if ran.code:
        return ran, None
    told = json.loads(ran.out)
    left = {name: value for name, value in told.items() if "seconds" not in name}
    return ran, (left, (folder / "m").read_bytes())


def judge(run, folder, data, typed, expected):
    """Require that an option has an effect, or that it is refused by its name."""
    files = {path.name for path in folder.iterdir()}
    with_it, model = trained(run, folder, *data, *typed.split())
    if expected == REFUSED:
        assert with_it.code == 2, with_it
        said, option = with_it.err.lower(), typed.split()[0]
        told = option in said and any(way in said for way in ("drop", "is not one of", f"does not take {option}."))
        assert told, with_it.err
        assert {path.name for path in folder.iterdir()} == files
        return
    assert with_it.code == 0, with_it
    if expected == KEPT:
        assert ("there is no checkpoint" in with_it.err) is ("--resume" in typed)
        return
    _, usual = trained(run, folder, *data)
    assert usual is not None
    assert model != usual


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPTIONS)
def test_options_for_sentences(run, tmp_path, name):
    typed, expected, _ = OPTIONS[name]
    (tmp_path / "x.conllu").write_text(conllu().replace("tree", "trée"), "utf-8")
    if name == "format":
        typed = "--format conll --label 4"
    judge(run, tmp_path, ["x.conllu"], typed, expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in OPTIONS if OPTIONS[name][2] in (REFUSED, TAKEN)])
def test_options_for_a_learner_that_keeps_rows_in_memory(run, tmp_path, name):
    typed, _, expected = OPTIONS[name]
    (tmp_path / "t.csv").write_text(NUMBERS if name == "online_scale" else TABLE, "utf-8")
    if name == "columns":
        typed = "--columns a"
    words = [] if name == "online_scale" else ["--text", "text"]
    judge(run, tmp_path, ["t.csv", *words, "--learner", "voted"], typed, expected)


@pytest.mark.parametrize("asked", ["--holdout 0.2", "--min-class 2", "--probabilities sigmoid", "--online-scale"])
def test_what_keeps_all_rows_in_memory_needs_no_cache(run, tmp_path, asked):
    (tmp_path / "t.csv").write_text(NUMBERS)
    ran = run("train", "t.csv", "-o", "m", "--cache", "rows", *asked.split())
    option = asked.split()[0]
    assert f"but {option} keeps all rows in memory. Drop --cache." in ran.err


@pytest.mark.parametrize(
    ("data", "given"),
    [
        ([["a"]], {"scale": False}),
        ([["a"]], {"min_class": 3}),
        ([["a"]], {"probabilities": "sigmoid"}),
        ([["a"]], {"memory": 5}),
        ([["a"]], {"cache": "rows"}),
        ("@iris", {"columns": ["a"]}),
        ("@iris", {"every": 2}),
        ("@iris", {"resume": True}),
    ],
)
def test_arguments_of_python(data, given):
    [(name, value)] = given.items()
    with pytest.raises(ParameterError, match=f"^{name}[ =]") as caught:
        rb.train(data, **given)
    error = caught.value
    assert (error.code, error.parameter, error.value) == (UNUSED, name, value)
    assert as_option(name, value if isinstance(value, bool) else None) in in_options(error.args[0])
