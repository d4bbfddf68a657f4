"""``python -m tests.fuzz.guided KIND SECONDS``: let atheris look for inputs that reach code not reached before.

atheris is not among the packages of this project: install it beside them. KIND is svmlight, jsonl, csv, npy, proof
or model. What it finds, it prints and leaves in this folder. Inputs are judged as in `tests.fuzz.data_files`
and `tests.fuzz.stored_files`. The readers in plain Python are run, because a compiled loop counts no branches;
loops are not instrumented, because numba could not compile them.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import tempfile
from pathlib import Path

ROOMS = ("tables", "models", "certify")


def data_file(data, kind, folder):
    """Read a data file."""
    from tests.fuzz.data_files import read

    path = folder / f"f.{kind}"
    path.write_bytes(data)
    read(str(path), {"skip_bad": bool(data and data[-1] % 2)})


def proof(data):
    """Check a proof against data that such proofs were made for; an exact evaluation must agree."""
    from rosenblatt.certify.check import ProofError, check, read_proofs
    from tests.certify.proofs import CASES, holds
    from tests.fuzz.stored_files import require_short

    text = data.decode(errors="replace")
    try:
        proofs = read_proofs(text)
    except ProofError as error:
        require_short(str(error))
        return
    for rows, labels, _ in (CASES[name] for name in sorted(CASES)[:3]):
        for each in proofs:
            try:
                check(each, rows, labels)
            except ProofError as error:
                require_short(str(error))
            else:
                assert holds(each, rows, labels), text


def model(data, folder):
    """Open a model file, and make the estimator."""
    from rosenblatt.exceptions import RosenblattError
    from rosenblatt.models.files import open_model
    from tests.fuzz.stored_files import require_short

    path = folder / "model"
    path.write_bytes(data)
    try:
        open_model(path).estimator()
    except RosenblattError as error:
        require_short(str(error))


def seeds(kind):
    """Return files to begin with."""
    from tests.certify.proofs import CASES
    from tests.fuzz.data_files import ARRAYS, npy, text_files
    from tests.fuzz.stored_files import GOLDEN

    if kind == "proof":
        return [json.dumps(proof).encode() for _, _, proof in CASES.values()]
    if kind == "model":
        return [place.read_bytes() for place in GOLDEN.glob("*.safetensors") if place.stat().st_size < 4096]
    if kind == "npy":
        return [npy(array) for arrays in ARRAYS for array in arrays.values()]
    return text_files()[kind]


def main():
    import atheris

    kind, seconds = sys.argv[1:]
    with atheris.instrument_imports(include=["rosenblatt"], exclude=["rosenblatt.loops"]):
        import rosenblatt

        for room in ROOMS:
            place = Path(rosenblatt.__path__[0]) / room
            for module in pkgutil.iter_modules([str(place)], f"rosenblatt.{room}."):
                importlib.import_module(module.name)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus"
        corpus.mkdir()
        for number, content in enumerate(seeds(kind)):
            (corpus / str(number)).write_bytes(content)
        targets = {"proof": proof, "model": lambda data: model(data, folder)}
        target = targets.get(kind, lambda data: data_file(data, kind, folder))
        options = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=60", "-rss_limit_mb=2048"]
        atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", str(corpus)], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
