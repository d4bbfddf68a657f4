"""``python -m tests.fuzz.stored_files COUNT [--seed N] [--kinds models,proofs]``: read what someone has changed.

Models, caches, checkpoints and proofs are changed with care: values of their JSON, types, shapes and bytes of
their arrays, and then every checksum is made right again. Input number i of a seed is always the same file. Each
batch is read in a process of its own, with a limit on memory and on the time of each input. An input must be used
like the file it was made of, or be refused by an error of this package in one line. A crash, a hang, any other
exception, more memory than allowed, a model that predicts otherwise than its weights say or in two ways, or a
proof that is accepted and does not hold is a find.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

from tests.fuzz.campaigns import main
from tests.fuzz.watch import Watch

SECONDS = 60  # for one input
LONGEST = 1500  # characters of a message
GOLDEN = Path(__file__).parents[1] / "golden"
KINDS = ("models", "caches", "checkpoints", "proofs", "sentences")

TEXTS = ["NaN", "-Infinity", "1e999", "1" * 5000, "[" * 3000 + "]" * 3000, "[" * 200_000, '{"a":1,"a":1}',
         '"\\ud800"', '"\\u0000"', "1.0", "01", "-0", "1e5", "9007199254740993", "2e-999"]  # fmt: skip


def changed_text(text, rng):
    """Return JSON of which one number, text or mark is written in another way."""
    at = rng.randrange(len(text))
    for mark in rng.sample([":", ",", "[", "{"], 4):
        place = text.find(mark, at)
        if place >= 0:
            end = min((k for k in (text.find(each, place + 1) for each in ",]}") if k > 0), default=place + 1)
            return text[: place + 1] + rng.choice(TEXTS) + text[end:]
    return text


def container(text, tensors):
    """Return a file of a text and arrays, with a checksum that is right."""
    from safetensors.numpy import save

    from rosenblatt.codecs import KEY, SUM, _digest

    rest = text[1:]
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    return save(arrays, {KEY: f'{SUM}{_digest(rest, arrays)}",{rest}'})


def changed_header(content, rng):
    """Change the header of a file: types, shapes and places of its arrays."""
    from tests.models.mutations import changed_document

    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    if header:
        header = changed_document(header, rng)
    text = json.dumps({"__metadata__": metadata, **header})
    text = (changed_text(text, rng) if rng.random() < 0.1 else text).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def changed_container(content, document, tensors, rng):
    """Return a changed model or checkpoint."""
    from tests.models.mutations import changed_bytes, changed_document, changed_tensors

    how = rng.random()
    if how < 0.05:
        return changed_bytes(content, rng)
    if how < 0.15:
        return changed_header(content, rng)
    if how < 0.4:  # one that may well be used
        return container(json.dumps(document, separators=(",", ":")), nudged(tensors, rng))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if rng.random() < 0.6:
            document = changed_document(document, rng)
        else:
            tensors = changed_tensors(tensors, rng)
    text = json.dumps(document, separators=(",", ":"))
    if rng.random() < 0.1:
        text = changed_text(text, rng)
    if rng.random() < 0.15:
        tensors = {name: squeezed(array, rng) for name, array in tensors.items()}
    return container(text, tensors)


def nudged(tensors, rng):
    """Return arrays of the same types and shapes, with some other values."""
    changed = {name: array.copy() for name, array in tensors.items()}
    for name in rng.choices(sorted(changed), k=rng.choice([1, 2, 4])) if changed else ():
        array = changed[name]
        if array.size:
            values = [0, 1, 2, 3, -1] if array.dtype.kind in "iu" else [0.0, -0.0, 1.0, 0.5, -3.25, 1e-300, 1e30]
            with np.errstate(all="ignore"):
                array.flat[rng.randrange(array.size)] = np.array(rng.choice(values)).astype(array.dtype)
    return changed


def squeezed(array, rng):
    """Return an array without values, perhaps with an endless dimension."""
    if rng.random() < 0.7:
        return array
    shapes = [(0,), (0, 3), (0, 2**31), (2**40, 0), (1, 0, 1), ()]
    shape = rng.choice(shapes)
    return np.zeros(shape, array.dtype)


class Models:
    """Model files of all learners, with preparations and calibrations."""

    def __init__(self, folder):
        from rosenblatt.codecs import read_container

        self.path = folder / "model"
        places = [*GOLDEN.glob("*.safetensors"), *GOLDEN.glob("files/*.model"), *GOLDEN.glob("trained/*.model")]
        places = [place for place in sorted(places) if place.stat().st_size < 1 << 19]
        places += calibrated_files(folder)
        self.files = [(place.read_bytes(), *read_container(place)) for place in places]

    def make(self, rng):
        """Write a changed file."""
        self.path.write_bytes(changed := changed_container(*rng.choice(self.files), rng))
        return len(changed)

    def use(self, rng):
        """Load it, predict with it, and train it further."""
        import rosenblatt as rb
        from rosenblatt.cli.main import main
        from tests.models.models import survives

        if rng.random() < 0.05:
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = main(["inspect", str(self.path), *rng.choice([[], ["--json"]])])
            if code not in (0, 2) or "defect" in said.getvalue():
                raise AssertionError(f"inspect: exit code {code}: {said.getvalue()[-500:]}")
        model = rb.load(self.path)
        calibration = getattr(model, "calibration_", None)
        model = model if calibration is None else model.model_
        learner = model[-1] if hasattr(model, "steps") else model
        self.judge(learner, calibration, rng)
        if rng.random() < 0.5:
            survives(learner)

    def judge(self, learner, calibration, rng):
        """Compare what a learner predicts with its weights, and with the file opened in another way."""
        import rosenblatt as rb
        from rosenblatt.models.opened import OpenedModel
        from rosenblatt.rows.features import as_rows

        if isinstance(learner, rb.SequencePerceptron):
            label_sentences(learner)
            return
        width = getattr(learner, "n_features_in_", 10**9)
        if width > 10**5:
            return
        X = np.array([[rng.choice([0.0, 1.0, -2.5]) for _ in range(width)] for _ in range(3)])
        if not hasattr(learner, "predict"):
            if hasattr(learner, "transform"):
                learner.transform(X)
            return
        found = learner.predict(X)
        if len(found) != 3:
            raise AssertionError("it does not predict each row")
        if hasattr(learner, "classes_") and found.ndim == 1 and not set(found.tolist()) <= set(learner.classes_):
            raise AssertionError("it predicts what is no class")
        require_what_weights_say(learner, X, found)
        if calibration is not None:
            require_probabilities(calibration.probabilities(learner.decision_function(X)), len(learner.classes_))
        predictor = OpenedModel.open(str(self.path)).predictor
        if predictor is not None:
            again = predictor.predict(as_rows(X))
            if not np.array_equal(found, again, equal_nan=found.dtype.kind == "f"):
                raise AssertionError(f"the loaded learner predicts {found}, and the opened file {again}")


def calibrated_files(folder):
    """Write models with curves of both kinds, for two classes and for three; return where they are."""
    import rosenblatt as rb
    from tests.models.models import THREE, TWO, X

    places = []
    for name, y, method in (("2s", TWO, "sigmoid"), ("3s", THREE, "sigmoid"), ("2i", TWO, "isotonic")):
        model = rb.Perceptron(average=True, max_iter=3).fit(X, y)
        rb.save(rb.calibrate(model, X, y, method=method, folds=2), folder / name)
        places.append(folder / name)
    return places


def label_sentences(learner):
    """Label sentences in two ways."""
    from tests.models.models import sentences_for

    X = sentences_for(learner)
    found = learner.predict(X)
    if [len(each) for each in found] != [len(each) for each in X]:
        raise AssertionError("it does not label each token")
    if not {label for each in found for label in each} <= set(learner.classes_.tolist()):
        raise AssertionError("it predicts what is no class")
    for best, only in zip(learner.predict(X, k=2), found, strict=True):
        if best[0] != only:
            raise AssertionError(f"the best labelling is {best[0]}, but {only} is predicted")


def require_probabilities(found, n_classes):
    """Raise AssertionError if rows are not probabilities of the classes."""
    if found.shape != (3, n_classes) or not ((found >= 0.0) & (found <= 1.0)).all():
        raise AssertionError(f"these are no probabilities: {found}")
    if not np.allclose(found.sum(axis=1), 1.0):
        raise AssertionError(f"probabilities do not sum to one: {found}")


def require_what_weights_say(learner, X, found):
    """Compare predictions of a hyperplane with its weights, where rounding leaves no doubt."""
    coef, intercept = getattr(learner, "coef_", None), getattr(learner, "intercept_", None)
    classes = getattr(learner, "classes_", None)
    if coef is None or classes is None or np.shape(coef) != (1, X.shape[1]) or len(classes) != 2:
        return
    with np.errstate(all="ignore"):
        scores = X @ coef[0] + intercept[0]
        doubt = 1e-9 * (np.abs(X) @ np.abs(coef[0]) + abs(intercept[0]))
    for score, least, label in zip(scores, doubt, found.tolist(), strict=True):
        if np.isfinite(least) and abs(score) > least and label != classes.tolist()[int(score > 0)]:
            raise AssertionError(f"its weights give {score}, but it predicts {label!r} of {classes}")


class Caches:
    """Caches of dense and of sparse rows: their descriptions, and the bytes of their blocks."""

    def __init__(self, folder):
        from tests.tables.test_cache import described

        self.caches = []
        for sparse in (False, True):
            place = folder / f"cache-{sparse}"
            place.mkdir()
            read, path = described(place, sparse)
            self.caches.append((read, path, path.read_bytes()))

    def make(self, rng):
        """Write a changed cache."""
        from rosenblatt.tables.cache import MAGIC, PREAMBLE
        from tests.models.mutations import changed_bytes, changed_document

        self.read, path, content = rng.choice(self.caches)
        _, at, length, _ = PREAMBLE.unpack(content[: PREAMBLE.size])
        document, blocks = json.loads(content[at : at + length]), bytearray(content[:at])
        if rng.random() < 0.05:
            changed = changed_bytes(content, rng)
        else:
            if rng.random() < 0.5:
                document["data"] = changed_document(document["data"], rng)
            if rng.random() < 0.5:
                self.change_block(document, blocks, rng)
            text = json.dumps(document)
            text = (changed_text(text, rng) if rng.random() < 0.1 else text).encode()
            at = rng.choice([0, 1, at + 1, 2**63]) if rng.random() < 0.02 else at
            preamble = PREAMBLE.pack(MAGIC, at, len(text), hashlib.sha256(text).digest())
            changed = preamble + bytes(blocks[PREAMBLE.size :]) + text
        path.write_bytes(changed)
        path.chmod(0o600)
        return len(changed)

    def change_block(self, document, blocks, rng):
        """Change some numbers in a block, and make its checksum right again."""
        from rosenblatt.tables.blocks import BlockLayout, checksum

        try:
            told = rng.choice(document["data"]["blocks"])
            layout = BlockLayout(**told)
            block = np.frombuffer(blocks, np.uint8, layout.n_bytes, layout.offset)
            words = block[: len(block) // 4 * 4].view("<u4")
            for _ in range(rng.choice([1, 1, 3])):
                words[rng.randrange(len(words))] = rng.choice([0, 1, 2, 3, 40, 41, 2**31 - 1, 2**31, 2**32 - 1])
            told["checksum"] = checksum([block])
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError):
            return  # the description was changed so that there is no such block

    def use(self, rng):
        """Collect the rows, and train on them."""
        import rosenblatt as rb

        rb.Perceptron(max_iter=2, order=rng.choice(["cyclic", "shuffle"])).fit_blocks(self.read())


class Checkpoints:
    """Checkpoints of fits with averages, penalties, validation and records of mistakes."""

    PARAMETERS = (
        {"average": True, "trace": "mistakes", "tol": 1e-9, "early_stopping": True, "n_iter_no_change": 50},
        {"penalty": "l1", "trace": "mistakes"},
        {"penalty": "l2"},
        {"multiclass": "ovo", "trace": "mistakes"},
        {"multiclass": "direct", "average": True},
    )

    OTHERS = (
        ("SequencePerceptron", {"templates": "words"}),
        ("SequencePerceptron", {"templates": "words", "order": 2, "beam": 2, "average": False}),
        ("OrdinalPerceptron", {"average": True, "tol": 1e-9}),
        ("RankingPerceptron", {"average": True}),
        ("MultilabelPerceptron", {"rule": "arow"}),
        ("PassiveAggressiveRegressor", {"average": True}),
    )

    def __init__(self, folder):
        import rosenblatt as rb
        from rosenblatt.codecs import read_container
        from rosenblatt.tables.collect import collect
        from tests.shared.strategies import noisy
        from tests.tables.sources import ArraySource

        self.path, self.files = folder / "checkpoint", []
        X, y = noisy(60, 3)
        for parameters in self.PARAMETERS:
            labels = np.arange(60) % 3 if "multiclass" in parameters else y
            blocks = collect(ArraySource(X, labels), block_bytes=400)
            rb.Perceptron(max_iter=3, **parameters).fit_blocks(blocks, checkpoint=self.path)
            kept = self.path.read_bytes(), *read_container(self.path)
            self.files.append(("Perceptron", parameters, blocks, X, labels, kept))
        words = [[f"w{k % 7}", f"w{k % 5}", "w"] for k in range(20)]
        tags = [["AB"[k % 2], "AB"[k // 2 % 2], "B"] for k in range(20)]
        sets = [{"abc"[k % 3], "abc"[k * k % 7 % 3]} for k in range(60)]
        for name, parameters in self.OTHERS:
            rows = words if "templates" in parameters else X
            labels = tags if rows is words else sets if name == "MultilabelPerceptron" else np.arange(60) % 3
            getattr(rb, name)(max_iter=3, **parameters).fit(rows, labels, checkpoint=self.path)
            kept = self.path.read_bytes(), *read_container(self.path)
            self.files.append((name, parameters, None, rows, labels, kept))

    def make(self, rng):
        """Write a changed checkpoint."""
        *self.fit, kept = rng.choice(self.files)
        self.path.write_bytes(changed := changed_container(*kept, rng))
        self.path.chmod(0o600)
        return len(changed)

    def use(self, rng):
        """Resume the fit, and replay what it recorded."""
        import rosenblatt as rb
        from rosenblatt.exceptions import InputError

        name, parameters, blocks, X, y = self.fit
        if blocks is None:
            model = getattr(rb, name)(max_iter=4, **parameters)
            model.fit(X, y, checkpoint=self.path, resume=True)
            model.predict(X)
            with contextlib.suppress(InputError):  # scores of a log that was changed with care
                (model.trace_.replay if name == "SequencePerceptron" else model.replay)(X, y)
            return
        model = rb.Perceptron(max_iter=4, **parameters).fit_blocks(blocks, checkpoint=self.path, resume=True)
        if parameters.get("trace") == "mistakes":
            model.trace_.path(X, y)
        model.predict(X)


class Proofs:
    """Proofs of every kind, compared with an exact evaluation of what they say."""

    NUMBERS = ("0x0", "0x1", "-0x1", "0x2", "0x1p-1", "-0x3p-2", "0x1/0x3", "-0x5/0x7", "0x1p100000", "0x0p-3",
               "0x1/0x1", "-0x0", "0x3", "0x4", "-0x4")  # fmt: skip

    def __init__(self, folder):
        from tests.certify.proofs import CASES

        self.cases = [CASES[name] for name in sorted(CASES)]

    def make(self, rng):
        """Make a changed proof."""
        from tests.models.mutations import changed_document, places

        self.rows, self.labels, proof = rng.choice(self.cases)
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            if rng.random() < 0.4:
                proof = changed_document(proof, rng) if proof else proof
                continue
            proof = json.loads(json.dumps(proof))
            numbers = [path for path in places(proof) if self.is_number(proof, path)]
            if numbers:
                path = rng.choice(numbers)
                inner = proof
                for key in path[:-1]:
                    inner = inner[key]
                old = inner[path[-1]]
                inner[path[-1]] = (
                    rng.choice(self.NUMBERS) if isinstance(old, str) else rng.choice([0, 1, 2, 3, old])
                )
        if rng.random() < 0.1 and isinstance(proof, dict) and isinstance(proof.get("data"), dict):
            self.rehash(proof, rng)
        self.text = json.dumps(proof)
        if rng.random() < 0.05:
            self.text = changed_text(self.text, rng)
        return len(self.text)

    @staticmethod
    def is_number(proof, path):
        for key in path:
            proof = proof[key]
        return (isinstance(proof, str) and proof.lstrip("-").startswith("0x")) or type(proof) is int

    def rehash(self, proof, rng):
        """Change a label, and make the fingerprint right again."""
        from tests.certify.proofs import hash_of, signs_of

        data = proof["data"]
        with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError):
            data[rng.choice(["positive", "negative"])] = rng.choice([*self.labels, None, "x"])
            data["sha256"] = hash_of(self.rows, signs_of(data, self.labels))

    refusals = ("ProofError",)  # of `rosenblatt.certify.check`

    @staticmethod
    def is_about_such_data(proof):
        return True

    def holds(self, proof):
        """Evaluate what a proof says in the plainest way."""
        from tests.certify.proofs import holds

        return holds(proof, self.rows, self.labels)

    def use(self, rng):
        """Check it by both checkers, and by evaluating what it says."""
        from rosenblatt.certify import check
        from rosenblatt.certify.proof_reader import read, verify_proofs

        try:
            proofs = check.read_proofs(self.text)
        except check.ProofError as error:
            require_short(str(error))
            with contextlib.suppress(check.ProofError):
                read(self.text)
                raise AssertionError("only one of the two takes it for a proof") from None
            return
        (proof,) = proofs
        if not self.is_about_such_data(proof):
            return
        try:
            check.check(proof, self.rows, self.labels)
            first = True
        except tuple(getattr(check, name) for name in self.refusals) as error:
            require_short(str(error))
            first = False
        second, _ = verify_proofs(proofs, *self.as_given())
        require_short(second.reason)
        if second.holds != first:
            raise AssertionError(f"check.py says {first}, rosenblatt check {second}: {self.text}")
        if "p100000" in self.text:  # the plain evaluation would take minutes
            return
        if first != self.holds(proof):
            raise AssertionError(f"check.py says {first}, which is wrong: {self.text}")

    def as_given(self):
        """Return rows and labels as people pass them."""
        return np.array(self.rows), np.array(self.labels)


class SentenceProofs(Proofs):
    """Proofs about sentences, compared with an evaluation over all labellings."""

    refusals = ("ProofError", "DataError")

    def __init__(self, folder):
        from tests.sequences.proofs import CASES

        self.cases = [CASES[name] for name in sorted(CASES)]

    def rehash(self, proof, rng):
        """Change a label, and make the fingerprint right again."""
        from tests.sequences.proofs import hash_of

        with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError, IndexError):
            names = proof["data"]["labels"]
            rng.shuffle(names)
            codes = [[names.index(label) for label in own] for own in self.labels]
            proof["data"]["sha256"] = hash_of(self.rows, codes)

    @staticmethod
    def is_about_such_data(proof):
        return proof["data"].get("templates", "") is not None and "sentences" in proof["data"]

    def holds(self, proof):
        from tests.sequences.proofs import holds

        return holds(proof, self.rows, self.labels)

    def as_given(self):
        return self.rows, self.labels


def require_short(message):
    if len(message) > LONGEST or "\n" in message.strip():
        raise AssertionError(f"a message of {len(message)} characters: {message[:300]!r}")


def one_batch(seed, first, count, kinds, place):
    """Read inputs, and write down where this process stands and what it found."""
    from rosenblatt.exceptions import RosenblattError

    warnings.simplefilter("ignore")
    kinds = kinds or KINDS
    makers = {"models": Models, "caches": Caches, "checkpoints": Checkpoints, "proofs": Proofs}
    makers["sentences"] = SentenceProofs
    with tempfile.TemporaryDirectory(dir=place) as folder, (place / "finds").open("a") as finds:
        ready = {kind: makers[kind](Path(folder)) for kind in kinds}
        for kind in ready:  # what is compiled and imported once is not of an input
            warm(ready[kind], kind)
        watch = Watch(place / "at", SECONDS)
        used = 0
        for number in range(first, first + count):
            rng = random.Random(f"{seed}-{number}")
            kind = kinds[number % len(kinds)]
            size = ready[kind].make(rng)
            try:
                with watch.input(number, size):
                    try:
                        ready[kind].use(rng)
                        used += 1
                    except RosenblattError as error:
                        require_short(str(error))
            except BaseException:
                told = traceback.format_exc().strip().splitlines()
                finds.write(f"{number} {kind} {' | '.join(line.strip() for line in told[-7:])}\n")
                finds.flush()
    (place / "end").write_text(json.dumps({"read": count, "used": used}))


def warm(inputs, kind):
    """Use some inputs before memory is limited."""
    for number in range(40):
        rng = random.Random(f"warm-{kind}-{number}")
        with contextlib.suppress(Exception):
            inputs.make(rng)
            inputs.use(rng)


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.stored_files", one_batch))
