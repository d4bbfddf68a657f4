"""What the tour shows is what happens."""

from pathlib import Path

from tests.cli.tour import BLOCK, commands_of, plain, run

PAGE = Path(__file__).parents[2] / "docs" / "tour.md"


def test_the_tour(tmp_path):
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for command, shown in commands_of(block):
            assert plain(run(command, tmp_path)) == plain(shown), command
