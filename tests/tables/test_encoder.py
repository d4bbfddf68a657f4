"""Encoding of tables: the same chunks, categories and errors on any number of threads."""

import random

import numpy as np
import pytest

from rosenblatt.exceptions import FormatError
from rosenblatt.rows.batch import Batch
from rosenblatt.tables.file_source import open_source
from rosenblatt.tables.reading import Options
from rosenblatt.threads import using

THREADS = (2, 5)
HEADER = "a,colour,b,words,code,label"


def lines_of(n_rows, seed=0, n_colours=40):
    rng = random.Random(seed)
    words = ["to", "be", "or", "not", "ω"]
    return [
        f"{rng.choice(['0', '1.5', ''])},c{rng.randrange(1 + k * n_colours // n_rows)},{rng.randrange(9)},"
        f"{' '.join(rng.choices(words, k=k % 5))},{rng.choice(['x', 'y', ''])}{k % 11},{rng.choice(['no', 'yes'])}"
        for k in range(n_rows)
    ]


def write(path, lines):
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


def everything(path, n_jobs, recipe=None, **options):
    """Return all that a source says of a file, chunk by chunk and at its end."""
    options = {"missing": "zero", "text": ("words",), "hashed": ("code",), "bits": 6} | options
    source = open_source([str(path)], Options(chunk_bytes=700, **options), recipe)
    found, error = [], None
    with using(n_jobs):
        try:
            for chunk in source.chunks():
                arrays = chunk.rows if isinstance(chunk.rows, tuple) else (chunk.rows,)
                labels = chunk.labels.tolist() if isinstance(chunk, Batch) else None
                found.append(([np.array(each).tobytes() for each in arrays], chunk.n_features, labels))
        except FormatError as problem:
            error = str(problem)
    skipped = source.skipped.count, [str(each) for each in source.skipped.first]
    return found, error, source.recipe, dict(source.unknown), source.n_read, skipped, source.notes


@pytest.mark.parametrize(
    "options",
    [{}, {"vocabulary": True}, {"ignore": ("colour", "words", "code"), "text": (), "hashed": ()}],
    ids=["all", "vocabulary", "numbers"],
)
def test_any_number_of_threads_learns_the_same(tmp_path, options):
    path = write(tmp_path / "t.csv", lines_of(400))
    alone = everything(path, 1, **options)
    assert len(alone[0]) > 10
    assert alone[4] == 400
    for n_jobs in THREADS:
        assert everything(path, n_jobs, **options) == alone


def test_any_number_of_threads_counts_unknown_values_the_same(tmp_path):
    learned = everything(write(tmp_path / "t.csv", lines_of(200, n_colours=20)), 1)[2]
    path = write(tmp_path / "new.csv", lines_of(400, seed=1))
    alone = everything(path, 1, recipe=learned)
    assert alone[3]["colour"] > 0
    for n_jobs in THREADS:
        assert everything(path, n_jobs, recipe=learned) == alone


@pytest.mark.parametrize("skip_bad", [False, True])
def test_any_number_of_threads_refuses_the_same_rows(tmp_path, skip_bad):
    lines = lines_of(400)
    lines[150] = "1,c1,not a number,to be,x1,no"
    lines[151] = "1,c1,2,to be,x1,no,one field too many"
    lines[300] = "1,c1,2,to be,x1,"
    path = write(tmp_path / "t.csv", lines)
    alone = everything(path, 1, skip_bad=skip_bad)
    if skip_bad:
        assert alone[5][0] == 3
    else:
        assert ":152:" in alone[1]
        assert "(line 153)" in alone[1]
        assert "the label is missing (line 302)" in alone[1]
        assert len(alone[0]) > 3
    for n_jobs in THREADS:
        found = everything(path, n_jobs, skip_bad=skip_bad)
        if skip_bad:
            assert found == alone
        else:  # later blocks are begun before the error is raised
            assert found[:2] == alone[:2]


def test_too_many_categories_are_refused_in_the_same_place(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.tables.encoder.MOST_CATEGORIES", 25)
    path = write(tmp_path / "t.csv", lines_of(400))
    alone = everything(path, 1)
    assert "more than 25 different values" in alone[1]
    for n_jobs in THREADS:
        assert everything(path, n_jobs)[:2] == alone[:2]


def test_other_tables_are_encoded_on_threads_too(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"x": {k % 7}, "word": "w{k % 30}", "y": {k % 2}}}\n' for k in range(300)))
    how = {"text": (), "hashed": (), "target": "y"}
    alone = everything(path, 1, **how)
    assert len(alone[0]) > 5
    for n_jobs in THREADS:
        assert everything(path, n_jobs, **how) == alone
