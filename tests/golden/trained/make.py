"""Train models from small files by the command line, and keep them with what they predict: never written over.

Run as ``python -m tests.golden.trained.make`` from the root. It adds what is missing; what is there must load for
ever.
"""

from __future__ import annotations

import os
from pathlib import Path

from rosenblatt.cli.main import main
from rosenblatt.models import SCHEMA

FOLDER = Path(__file__).parent
MODEL, PREDICTED = f"{{name}}.v{SCHEMA}.model", f"{{name}}.v{SCHEMA}.tsv"
MAIL = """id,message,label
1,"Win a prize: free entry, text WIN",spam
2,"are you coming home, mum?",ham
3,free prize for you,spam
4,see you at home,ham
5,"FREE call, win win win",spam
6,"mum says: call home",ham
"""
THINGS = """size,colour,shape,zip,heavy,kind
1.5,red,round,0815,true,apple
2.5,green,round,4711,true,apple
0.5,red,flat,0815,false,coin
0.25,brown,flat,99,false,coin
3,brown,round,4711,true,apple
0.75,green,flat,99,true,coin
"""
GAPS = """a,b,label
1,2,x
,4,y
3,,y
-1,0,x
2,5,y
0,1,x
"""
SVM = """1 1:1 3:2
-1 2:1.5
1 1:2 3:0.5
-1 2:1 4:3
"""
NAMELESS = "1,2,u,x\n3,4,v,y\n-1,2,u,x\n5,4.5,v,y\n"
TRAINED = {
    "text": ("mail.csv", ["--text", "message", "--ignore", "id", "--bits", "6", "--ngrams", "2"]),
    "vocabulary": ("mail.csv", ["--text", "2", "--ignore", "1", "--bits", "5", "--vocabulary"]),
    "categories": ("things.csv", ["--target", "kind", "--hashed", "zip", "--bits", "4"]),
    "filled": ("gaps.csv", ["--missing", "mean", "--scale", "--learner", "perceptron"]),
    "scaled": ("gaps.csv", ["--missing", "mean", "--scale", "--learner", "voted"]),
    "scaled-categories": ("things.csv", ["--scale", "--learner", "voted", "--ignore", "zip", "--target", "kind"]),
    "zeros": ("gaps.csv", ["--missing", "zero"]),
    "nameless": ("nameless.csv", ["--no-header"]),
    "sparse": ("sparse.svm", []),
    "sparse-scaled": ("sparse.svm", ["--scale", "--learner", "voted"]),
    "built-in": ("@six-points", ["--scale", "--learner", "voted"]),
}
"""The file that each model is trained on, and how."""


def options_of(options: list[str]) -> list[str]:
    """Return options of training, with a learner, and those that keep the rows as they are and all passes."""
    told = [*options] if "--scale" in options else [*options, "--no-scale"]
    if "--learner" not in options:
        told += ["--learner", "averaged"]
    if "averaged" in told or "perceptron" in told:
        told += ["--set", "n_iter_no_change=1000000", "--set", "decide=false"]
    return told


def make() -> None:
    """Write what is not there yet."""
    os.chdir(FOLDER)
    texts = {"mail": MAIL, "things": THINGS, "gaps": GAPS, "nameless": NAMELESS}
    for name, text in texts.items():
        Path(f"{name}.csv").write_text(text, encoding="utf-8")
    Path("sparse.svm").write_text(SVM, encoding="utf-8")
    for name, (data, options) in TRAINED.items():
        path = MODEL.format(name=name)
        if not Path(path).exists():
            assert main(["train", data, "-o", path, "-q", *options_of(options)]) == 0
            table = PREDICTED.format(name=name)
            assert main(["predict", path, data, "--scores", "-o", table, "-q"]) == 0


if __name__ == "__main__":
    make()
