"""Help texts and public docstrings are plain English: short sentences, without phrases that people misread."""

import ast
import inspect
import re
import types
from itertools import chain
from pathlib import Path

import click
import pytest

import rosenblatt as rb
from rosenblatt.cli.main import COMMANDS, commands

LONGEST = 35
"""The most words of a sentence."""
MISREAD = [
    r"is told",
    r"are told",
    r"told of",
    r"told apart",
    r"hands? back",
    r"one's own",
    r"as it was\b",
    r"as they were\b",
    r"of others\b",
    r"whatever",
    r"nobody",
    r"anew",
    r"beforehand",
    r"so much lower",
    r"gone on from",
    r"goes on from",
    r"[Ww]hat is minimised",
    r"Itself\b",
    r"The most (passes|seconds|steps|rows)",
    r"seed of all",
    r"rows to come",
    r"theory allows",
    r"\b[SE]-\d+",
    r"\b[KHZWS] (says|states|prints)\b",
    r"\bin ([KHZWS]) it\b",
]
BREAK = re.compile(r"\n\s*\n|\n?[^\n]+ : [^\n]+\n|\n\s*[-=]{3,}[^\n]*\n|::\n")
SENTENCE = re.compile(r"(?<=[.?!])\s+")


def is_ours(thing):
    return (getattr(thing, "__module__", None) or "").startswith("rosenblatt")


def members(name, thing):
    """Yield the public parts of a module or class, one level down, and itself."""
    yield name, thing
    if isinstance(thing, types.ModuleType):
        for each in getattr(
            thing, "__all__", [each for each in vars(thing) if each.endswith(("Error", "Warning"))]
        ):
            if is_ours(getattr(thing, each)):
                yield from members(f"{name}.{each}", getattr(thing, each))
    elif isinstance(thing, type):
        for each in dir(thing):
            value = inspect.getattr_static(thing, each)
            value = value.fget if isinstance(value, property) else getattr(thing, each, None)
            if not each.startswith("_") and is_ours(value):
                yield f"{name}.{each}", value


def documented():
    """Return the docstrings of all public names without their examples."""
    found = {}
    for name, thing in chain.from_iterable(members(each, getattr(rb, each)) for each in rb.__all__):
        text = inspect.getdoc(thing)
        if text:
            found[name] = re.split(r"\n\s*Examples\n\s*-+", text)[0]
    return found


def helped():
    """Return the help texts of all commands."""
    found = {}
    for name in COMMANDS:
        command = commands.get_command(click.Context(commands), name)
        options = [each.help for each in command.params if isinstance(each, click.Option) and each.help]
        texts = [command.help, *options, *(command.epilog or "").split("\n\n")]
        found[f"rosenblatt {name}"] = "\n\n".join(text for text in texts if text and not text.startswith("\b"))
    return found


TEXTS = documented() | helped()


def test_the_texts_are_found():
    assert len(TEXTS) > 200
    assert {
        "Perceptron",
        "Perceptron.fit",
        "plot.bounds",
        "certify.Separable",
        "rosenblatt train",
    } <= TEXTS.keys()
    assert "Random seed" in TEXTS["rosenblatt train"]


@pytest.mark.parametrize("phrase", MISREAD)
def test_no_text_has_a_phrase_that_people_misread(phrase):
    found = {name: match.group() for name, text in TEXTS.items() if (match := re.search(phrase, text))}
    assert found == {}


def test_sentences_are_short():
    long = {}
    for name, text in TEXTS.items():
        if name == "exceptions":  # a tree
            continue
        for paragraph in BREAK.split(text):
            for sentence in SENTENCE.split(" ".join(paragraph.split())):
                if len(sentence.split()) > LONGEST:
                    long[name] = sentence
    assert long == {}


def test_docstrings_begin_with_a_sentence():
    """The first line ends with a full stop, and begins with a capital letter, a quantity or a name in code."""
    wrong = {}
    for name, text in documented().items():
        first = text.split("\n\n")[0].strip().splitlines()[-1]
        if not first.endswith((".", "…", "::", ".)")) or (text[0].islower() and not text.startswith("k(x")):
            wrong[name] = text.splitlines()[0]
    assert wrong == {}


PAGES = [
    page
    for folder in ("learn", "do")
    for page in sorted((Path(__file__).parents[1] / "docs" / folder).glob("*.md"))
    if page.name != "index.md"
]
MOST_ON_AVERAGE = 20
"""The words of a sentence on pages that teach, on average."""
FENCED = r"^(?P<fence>```+|:::+)[^\n]*\n.*?^(?P=fence)[ ]*$"
SET_APART = re.compile(rf"{FENCED}|^\|[^\n]*$|^#[^\n]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
AS_ONE_WORD = re.compile(r"`[^`]*`|\$[^$]*\$")
ITEM = re.compile(r"\n(?=\s*(?:[-*]|\d+\.) )|\n\s*\n")


def sentences_of(page_text):
    """Return the sentences of the prose of a page: no code, tables, headings, pictures, nor lists of links."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", SET_APART.sub("\n\n", page_text))
    found = []
    for paragraph in ITEM.split(text):
        if LINK.sub("", paragraph).strip(" -*·\n:.,") == "" or paragraph.count("](") >= 3:
            continue
        plain = AS_ONE_WORD.sub("code", LINK.sub(r"\1", paragraph))
        words = " ".join(plain.split())
        found += [each for each in SENTENCE.split(words) if re.search(r"\w", each)]
    return found


def test_sentences_of_a_page_are_its_prose():
    page = "# A title of a page\n\nOne two three. Four\nfive `a b c` six!\n\n```python\n>>> not prose\n```\n\n"
    page += "| a | table |\n|---|---|\n\n- an item. Of two\n- [a](b.md)\n\n![a picture](c.png)\n"
    assert sentences_of(page) == ["One two three.", "Four five code six!", "- an item.", "Of two"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_pages_that_teach_have_short_sentences(page):
    sentences = sentences_of(page.read_text("utf-8"))
    assert sum(len(each.split()) for each in sentences) <= MOST_ON_AVERAGE * len(sentences)


def test_what_is_skipped_or_expected_to_fail_has_a_reason():
    """`pytest -ra` prints it; "could not import" does not say what that is needed for."""
    bare, found = [], 0
    for path in Path(__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        calls = ast.walk(ast.parse(text)) if re.search("skip|xfail", text) else ()
        for call in (node for node in calls if isinstance(node, ast.Call)):
            called = ast.unparse(call.func).removeprefix("pytest.").removeprefix("mark.")
            if called in ("importorskip", "skip", "skipif", "xfail"):
                found += 1
                told = call.args if called == "skip" else [each for each in call.keywords if each.arg == "reason"]
                bare += [] if told else [f"{path.name}:{call.lineno}"]
    assert found > 60
    assert bare == []


def test_every_public_name_has_an_example():
    """Examples are run as doctests. Those of the exceptions stand in their module."""
    missing = []
    for name in rb.__all__:
        thing = getattr(rb, name)
        if name == "exceptions" or not isinstance(thing, types.ModuleType):
            found = {name: thing}
        else:
            found = {f"{name}.{each}": getattr(thing, each) for each in thing.__all__}
        missing += [each for each, value in found.items() if ">>> " not in (inspect.getdoc(value) or "")]
    assert missing == []
