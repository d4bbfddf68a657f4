"""`rosenblatt certify`: decide whether classes are separable, with a proof."""

from __future__ import annotations

import json
import shlex
from typing import Any, Literal

import click

from rosenblatt.cli.main import DONE, NO, UNDECIDED
from rosenblatt.cli.options import (
    COLUMN,
    COLUMNS,
    DATA,
    Output,
    Sectioned,
    as_typed,
    common,
    jobs,
    kind_of,
    reading,
)
from rosenblatt.parameters import CertifyArguments

CODES = {"separable": DONE, "inseparable": NO, "undecided": UNDECIDED}


@click.command(
    cls=Sectioned,
    epilog="""\b
Examples:
  rosenblatt certify @xor                      # no, with a point of both convex hulls as the proof
  rosenblatt certify probes.parquet -o proof.json --margin
  rosenblatt check proof.json probes.parquet   # anyone can check it
  rosenblatt certify corpus.conllu --label upos --without-inconsistent

Of files of sentences (CoNLL-U, or a token a line with columns) it decides whether a tagger can label every one
correctly. It lists all inconsistencies of annotation: the same words with the same labels around them, but other
labels inside.

Exit codes: 0 separable, 1 not separable, 3 undecided.""",
)
@DATA
@click.option("-o", "--output", "path", type=click.Path(dir_okay=False), help="Proof file to write.")
@click.option("--margin", is_flag=True, help="Also compute bounds of the largest margin.")
@click.option(
    "--ties/--no-ties",
    default=None,
    help="Decide separation with ties, too, or not at all.  [default: for small data]",
)
@click.option(
    "--multiclass",
    type=kind_of(CertifyArguments, "multiclass"),
    help="For several classes: whether one argmax of linear functions makes no error.  [default: pairs and rest]",
)
@click.option("--no-bias", is_flag=True, help="Only hyperplanes through the origin.")
@click.option("--time-limit", type=kind_of(CertifyArguments, "time_limit"), help="Maximum seconds.")
@click.option("--label", type=COLUMN, help="Of sentences: the column of labels. [default: upos, else the last]")
@click.option("--columns", type=COLUMNS, help="Of sentences: the word and further columns that are "
              "features. [default: form, else the first]")  # fmt: skip
@click.option("--constraints", type=click.Choice(["bio", "bioes"]), help="Of sentences: which labels may follow.")
@click.option("--without-inconsistent", is_flag=True, help="Of sentences: leave out the minority of each "
              "inconsistency, and decide about the others.")  # fmt: skip
@click.option("--all", "show_all", is_flag=True, help="Of sentences: print every inconsistency, not the first 20.")
@reading
@jobs
@common
def certify(
    data: tuple[str, ...],
    path: str | None,
    margin: bool,
    ties: bool | None,
    multiclass: Literal["direct"] | None,
    no_bias: bool,
    time_limit: float | None,
    label: str | int | None,
    columns: tuple[str | int, ...] | None,
    constraints: str | None,
    without_inconsistent: bool,
    show_all: bool,
    options: dict[str, Any],
    output: Output,
) -> int:
    """Decide exactly whether a hyperplane separates the classes of DATA, and prove it."""
    from rosenblatt.certify.certificate import Answer, wording
    from rosenblatt.certify.separability import certify as decide
    from rosenblatt.tasks.data import filled_table, holding, reads_sentences, require_apart, source_of

    require_apart(path, data)
    of_sentences = {
        "columns": columns,
        "constraints": constraints,
        "without-inconsistent": without_inconsistent,
        "all": show_all,
    }
    if reads_sentences(data, label, options["format"]):
        of_tables = {"margin": margin, "ties": ties, "multiclass": multiclass, "no-bias": no_bias}
        _require_none(of_tables, "files of sentences have")
        return _certify_sentences(data, path, label, of_sentences, time_limit, options, output)
    _require_none(of_sentences, "tables, whose labels are named by --target, have")
    (X, y, names), means = filled_table(source_of(data, options), output.remark)
    if means:
        told = ", ".join(f"{name!r} {mean:.6g}" for name, mean in [*means.items()][:6]) + ", …" * (len(means) > 6)
        output.remark(f"note: the proof is about rows whose missing numbers were filled with means: {told}")
    if len(set(y.tolist())) == 1:
        output.remark(f"note: all rows have the label {y[0]!s}, so there is nothing to separate")
    answer = decide(X, y, bias=not no_bias, margin=margin, ties=ties, multiclass=multiclass, time_limit=time_limit)
    answer = answer if names is None else answer.renamed(names)
    proof = None if answer.verdict == "undecided" else holding(answer.to_json(), options, means)
    _write(path, proof, data, "rows", output)
    n_rows, n_features = X.shape
    value = {"verdict": answer.verdict, "reason": answer.reason, "rows": n_rows, "features": n_features}
    text = wording(answer, first=1) if isinstance(answer, Answer) else str(answer)
    output.result(text, value | {"proof": None if proof is None else json.loads(proof)})
    return CODES[answer.verdict]


def _require_none(given: dict[str, Any], whose: str) -> None:
    """Require that options were not given which the data does not have."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise click.UsageError(f"{whose} no --{name}")


def _write(path: str | None, proof: str | None, data: tuple[str, ...], counted: str, output: Output) -> None:
    """Write a proof, if there is one and a place for it, and say how to check it."""
    from rosenblatt.atomic import write_whole

    if path is not None and proof is not None:
        write_whole(path, (proof + "\n").encode())
        again = f"rosenblatt check {shlex.quote(path)} {as_typed(data, {})}"
        output.remark(f"the proof is in {path} and counts {counted} from 0; check it with: {again}")
    elif path is not None:
        output.remark(f"there is no proof to write to {path}")


def _certify_sentences(
    data: tuple[str, ...],
    path: str | None,
    label: str | int | None,
    given: dict[str, Any],
    time_limit: float | None,
    options: dict[str, Any],
    output: Output,
) -> int:
    from rosenblatt.certify.separability import certify as decide

    found: Any = decide(
        data,
        label=label,
        columns=given["columns"],
        constraints=given["constraints"],
        without_inconsistent=given["without-inconsistent"],
        time_limit=time_limit,
        log=output.remark,
        **options,
    )
    _write(path, found.proof(), data, "sentences", output)
    output.result(found.text(None) if given["all"] else found.text(), found.to_json())
    return CODES[found.verdict]
