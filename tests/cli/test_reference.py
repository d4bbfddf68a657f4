"""The page of all commands and options is made from the parser, and leaves nothing out."""

import importlib.util
from pathlib import Path

import click
import pytest

FILE = Path(__file__).parents[2] / "docs" / "command_reference.py"
if not FILE.exists():
    pytest.skip("the pages are in the repository only, not in the source distribution", allow_module_level=True)
spec = importlib.util.spec_from_file_location("command_reference", FILE)
command_reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(command_reference)


def flat(text):
    return " ".join(text.replace("\\", "").replace("`", "").split())


def test_every_command_and_option_is_there_with_its_help():
    text = command_reference.reference()
    sections = dict(part.split("\n", 1) for part in text.removeprefix("## ").split("\n## "))
    shared = flat(sections["Reading"] + sections["Learning"] + sections["Every command"])
    found = list(command_reference._all_commands())
    assert {"train", "check", "token", "token create", "completion"} <= {name for name, _ in found}
    for name, command in found:
        own = flat(sections[name]) + shared
        for each in command.params:
            if isinstance(each, click.Option) and not each.hidden:
                assert all(option in own for option in (*each.opts, *each.secondary_opts)), (name, each.name)
                assert flat(each.help or "") in own, (name, each.name)


def test_examples_are_code_and_the_rest_is_prose():
    text = command_reference.reference()
    assert "```sh\nrosenblatt completion fish" not in text  # the first line of the block is its title
    assert '```sh\neval "$(rosenblatt completion bash)"' in text
    assert "\b" not in text
    assert "A loop that was not compiled ahead is compiled at its first use" in text
