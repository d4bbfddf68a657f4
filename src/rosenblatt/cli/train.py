"""`rosenblatt train`: train a model on files, and save it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.options import (
    COLUMN,
    COLUMNS,
    DATA,
    MIN_CLASS,
    SCALE,
    Output,
    Sectioned,
    Whole,
    common,
    in_options,
    jobs,
    kind_of,
    learning,
    reading,
)
from rosenblatt.parameters import TrainingArguments
from rosenblatt.registry import able_in_words
from rosenblatt.rooms import find

if TYPE_CHECKING:
    from rosenblatt.sequences.tagger_tasks import TaggerSummary
    from rosenblatt.tasks.summary import TrainingSummary
    from rosenblatt.tasks.training import TrainingResult


@click.command(
    cls=Sectioned,
    epilog=f"""\b
Examples:
  rosenblatt train mail.csv -o spam.model
  rosenblatt train SMSSpamCollection -o sms.model
  rosenblatt train 'clicks-*.parquet' -o clicks.model --checkpoint 1
  rosenblatt train a9a.libsvm -o a9a.model --learner pocket --max-iter 50 --holdout 0.2
  rosenblatt train @digits -o digits.model --learner kernel --set budget=500
  rosenblatt train en_ewt.conllu -o tagger.model --label upos
  rosenblatt train ner.tsv -o names.model --label 2 --set constraints=bio
  rosenblatt train 'clicks-*.parquet' -o clicks.model --workers 4

{able_in_words("blocks")} learn from files of any size. Data larger than --memory goes through a file in
$XDG_CACHE_HOME (~/.cache), which is gone when training ends; that of --cache stays, and later runs use it again.
The other learners of this package need all rows in memory.

Files of sentences (CoNLL-U, or a token a line with columns) train a tagger, a SequencePerceptron. They end in
.conllu or .conll, or are named with --label.""",
)
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), required=True, metavar="MODEL",
              help="Model file to write.")  # fmt: skip
@learning
@SCALE
@click.option("--online-scale", is_flag=True, help="Standardise numbers by an online scaler, which goes on "
              "learning means and deviations in rosenblatt serve.")  # fmt: skip
@click.option("--holdout", type=kind_of(TrainingArguments, "holdout"), metavar="SHARE",
              help="Hold out this share of rows to test the model (all in memory).")  # fmt: skip
@MIN_CLASS
@click.option("--probabilities", type=kind_of(TrainingArguments, "probabilities"), is_flag=False,
              flag_value="sigmoid", help="Calibrate probabilities on held-out folds, for predict "
              "--probabilities.")  # fmt: skip
@click.option("--label", type=COLUMN, help="Of sentences: the column to predict. [default: upos, else the last]")
@click.option("--columns", type=COLUMNS, help="Of sentences: the word and further columns that are "
              "features. [default: form, else the first]")  # fmt: skip
@click.option("--checkpoint", "every", type=kind_of(TrainingArguments, "every"), metavar="N", help="Save the "
              "state of training after every N passes.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Continue from the checkpoint, to the same model bit for bit.")
@click.option("--memory", type=kind_of(TrainingArguments, "memory"), metavar="MB", help="Keep data of up to this "
              "size in memory. [default: a quarter of the free memory]")  # fmt: skip
@click.option("--cache", type=click.Path(), metavar="PATH", help="Write the rows of larger data to this file, or "
              "into this folder, and keep them for later runs.")  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Keep all rows in memory, and write no cache file.")
@click.option("--dask", "address", metavar="ADDRESS", help="Train on the Dask cluster of this scheduler, such as "
              "tcp://10.0.0.1:8786; its workers read the files.")  # fmt: skip
@click.option("--workers", type=Whole(1), metavar="N", help="Train on N processes of this machine, by "
              "Dask.")  # fmt: skip
@click.option("--mixing", type=click.Choice(["uniform", "mistakes"]),
              help="How a cluster mixes partitions: each the same, or by its mistakes. "
              "[default: uniform]")  # fmt: skip
@reading
@jobs
@common
def train(
    data: tuple[str, ...],
    path: str,
    learner: str | None,
    parameters: dict[str, Any],
    seed: int,
    scale: bool | None,
    online_scale: bool,
    holdout: float | None,
    min_class: str | None,
    probabilities: str | None,
    label: str | int | None,
    columns: tuple[str | int, ...] | None,
    every: int | None,
    resume: bool,
    memory: int | None,
    cache: str | None,
    no_cache: bool,
    address: str | None,
    workers: int | None,
    mixing: str | None,
    options: dict[str, Any],
    output: Output,
) -> None:
    """Train a model on DATA, print a summary, and save the model."""
    from rosenblatt.atomic import require_place
    from rosenblatt.escaping import size
    from rosenblatt.tasks.data import for_learning, open_sentences, reads_sentences, require_apart, source_of
    from rosenblatt.tasks.training import TrainingInterrupted, checkpoint_of
    from rosenblatt.tasks.training import train as train_model

    require_place(path)
    on_cluster = address is not None or workers is not None
    if online_scale and scale is not None:
        raise click.UsageError("--online-scale is another way to scale: drop --scale or --no-scale.")
    if cache is not None and no_cache:
        raise click.UsageError("--cache writes a file and --no-cache writes none. Drop one of them.")
    if address is not None and workers is not None:
        raise click.UsageError("--dask names a cluster and --workers starts one. Drop one of them.")
    if mixing is not None and not on_cluster:
        raise click.UsageError("--mixing is for a cluster. Name one with --dask or --workers, or drop it.")
    sentences = reads_sentences(data, label, options["format"])
    if sentences and on_cluster:
        given = "--workers" if address is None else "--dask"
        raise click.UsageError(f"{given} is for tables, but the data holds sentences: drop {given}.")
    saved = None if every is None and not resume else checkpoint_of(path)
    arguments: dict[str, Any] = {
        "parameters": parameters,
        "scale": "online" if online_scale else scale,
        "holdout": holdout,
        "min_class": min_class,
        "probabilities": probabilities,
        "label": label,
        "columns": columns,
        "seed": seed,
        "memory": None if memory is None else memory << 20,
        "cache": "no" if no_cache else cache or "auto",
        "checkpoint": saved,
        "every": every or 1,
        "resume": resume,
        "progress": output.shows_progress,
        "log": output.remark,
    }
    filled = options if sentences else for_learning(options)
    try:
        if on_cluster:
            cluster = find("distributed.cluster_files")
            taken = cluster.arguments_on_cluster(arguments)
            with cluster.cluster_of(address, workers, output.remark) as client:
                how = {"client": client, "mixing": mixing or "uniform", **taken, **filled}
                trained = cluster.train_on_cluster(data, learner, **how)
        else:
            opened = open_sentences(data, options) if sentences else source_of(data, filled)
            require_apart(path, opened.files)
            trained = train_model(opened, learner, **arguments)
    except TrainingInterrupted as stop:
        _save_interrupted(stop.result, path, output, resumable=saved is not None and saved.exists())
        raise
    trained.save(path)
    shown = _shown(trained)
    found = trained.summary.to_json() | {"model": path, "notes": list(map(in_options, trained.notes))}
    output.result(shown.details() if output.verbose else str(shown), found)
    output.remark(f"saved in {path} ({size(Path(path).stat().st_size)})")


def _shown(trained: TrainingResult) -> TrainingSummary | TaggerSummary:
    """Return the summary to print; the line about what was read has named the target."""
    from rosenblatt.tasks.summary import TrainingSummary

    summary: TrainingSummary | TaggerSummary = trained.summary
    return replace(summary, target=None) if isinstance(summary, TrainingSummary) else summary


def _save_interrupted(trained: TrainingResult, path: str, output: Output, *, resumable: bool) -> None:
    """Save the last completed pass of a run that Ctrl-C ended, and say how to go on."""
    from rosenblatt.registry import abilities

    trained.save(path, ended=False)
    output.result(str(_shown(trained)), trained.summary.to_json() | {"model": path})
    passes = trained.summary.n_passes
    go_on = "This run cannot go on."
    if resumable:
        go_on = "Go on with the same command and --resume."
    elif "checkpoints" in abilities(trained.estimator):
        go_on = "This run cannot go on; one with --checkpoint 1 can, by the same command and --resume."
    output.remark(f"saved in {path}: the model after {passes} complete pass{'es' * (passes != 1)}. {go_on}")
