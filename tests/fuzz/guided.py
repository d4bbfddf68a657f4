"""``python -m tests.fuzz.guided KIND SECONDS``: let atheris look for inputs that reach code not reached before.

atheris is not among the packages of this project: install it where the project is installed. KIND is svmlight, jsonl,
csv, npy, proof or model. What it finds, it prints and leaves in the current folder. Inputs are judged as those of
`tests.fuzz.data_files` and `tests.fuzz.stored_files` are; here the readers in plain Python are run, because a loop
that is compiled counts no branches.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import tempfile
from pathlib import Path

import atheris

KIND, SECONDS = sys.argv[1], sys.argv[2]
ENDINGS = {"svmlight": "svmlight", "jsonl": "jsonl", "csv": "csv", "npy": "npy"}

with atheris.instrument_imports(include=["rosenblatt"]):
    import rosenblatt

    for room in ("columns", "formats", "text", "schema", "storage", "certify"):
        for module in pkgutil.iter_modules([str(Path(rosenblatt.__path__[0]) / room)], f"rosenblatt.{room}."):
            importlib.import_module(module.name)
    from rosenblatt.certify.check import ProofError, check, read_proofs
    from rosenblatt.exceptions import RosenblattError
    from rosenblatt.storage.stored import open_model

from tests.certify.proofs import CASES, holds
from tests.fuzz.data_files import ARRAYS, npy, read, text_files
from tests.fuzz.stored_files import GOLDEN, require_short

FOLDER = Path(tempfile.mkdtemp(dir="/dev/shm"))


def data_file(data: bytes) -> None:
    """Read a data file."""
    path = FOLDER / f"f.{ENDINGS[KIND]}"
    path.write_bytes(data)
    read(str(path), {"skip_bad": bool(data and data[-1] % 2)})


def proof(data: bytes) -> None:
    """Check a proof against the data that it was made for; an exact evaluation must agree."""
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


def model(data: bytes) -> None:
    """Open a model file, and make the estimator."""
    path = FOLDER / "model"
    path.write_bytes(data)
    try:
        open_model(path).estimator()
    except RosenblattError as error:
        require_short(str(error))


def seeds() -> list[bytes]:
    """Return files to begin with."""
    if KIND == "proof":
        return [json.dumps(proof).encode() for _, _, proof in CASES.values()]
    if KIND == "model":
        return [place.read_bytes() for place in GOLDEN.glob("*.safetensors") if place.stat().st_size < 4096]
    if KIND == "npy":
        return [npy(array) for arrays in ARRAYS for array in arrays.values()]
    return text_files()[KIND]


def main() -> None:
    corpus = FOLDER / "corpus"
    corpus.mkdir()
    for number, content in enumerate(seeds()):
        (corpus / str(number)).write_bytes(content)
    target = {"proof": proof, "model": model}.get(KIND, data_file)
    options = [f"-max_total_time={SECONDS}", "-max_len=4096", "-timeout=60", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", str(corpus)], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
