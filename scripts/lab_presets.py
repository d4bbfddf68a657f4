"""Write the runs of the lectures for the lab: ``python scripts/lab_presets.py``.

They come from `rosenblatt.presets`: the list in the menu of the page, and the links on the companion pages. Run
``make web`` afterwards.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import rosenblatt as rb

ROOT = Path(__file__).parents[1]
MENU = ROOT / "web" / "src" / "presets.json"
COMPANIONS = {
    "koski": ("koski-example", "koski"),
    "hladka_holub": ("hladka-holub",),
    "harchaoui": ("harchaoui",),
    "kernel_slides": ("kernels",),
    "zhang": ("zhang",),
}
"""The presets that each companion page links, in their order on the page."""
LINK = re.compile(r"(?<=_static/lab\.html)#v1\.[\w-]+")


def shown(name: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return the rows and labels that the lab shows with a preset, and what it calls them."""
    if name == "harchaoui":  # fewer points than the built-in set has, so that an address holds them
        return *rb.datasets.make_diagonal(30, seed=0), {"name": name}
    table = rb.read_table(f"@{rb.presets.get(name).data}")
    return table.X, table.y, {"name": name, "features": table.names}


def menu() -> str:
    """Return the list of the page, as JSON with a line for each preset."""
    lines = []
    for name in rb.presets.names():
        preset = rb.presets.get(name)
        X, y, named = shown(name)
        entry = {"lecture": preset.lecture, "says": preset.says, **preset.lab_document(X, y, **named)}
        lines.append(json.dumps(entry, separators=(",", ":"), ensure_ascii=False))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def addresses(page: str) -> list[str]:
    """Return the addresses that a companion page links."""
    found = []
    for name in COMPANIONS[page]:
        X, y, named = shown(name)
        found.append(rb.presets.get(name).lab_address(X, y, **named))
    return found


if __name__ == "__main__":
    MENU.write_text(menu(), encoding="utf-8")
    for page in COMPANIONS:
        path = ROOT / "docs" / "sources" / f"{page}.md"
        links = iter(addresses(page))
        path.write_text(
            LINK.sub(lambda _, links=links: next(links), path.read_text(encoding="utf-8")), encoding="utf-8"
        )
