"""The engine of the lab page as a process: questions in, answers out."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "src" / "rosenblatt" / "lab" / "index.html"
WEB = Path(__file__).parents[2] / "web"
NODE = shutil.which("node")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WITHOUT_NODE = "the lab page was NOT tested: install Node"
REQUIRED = os.environ.get("LAB_BROWSER") == "required"  # CI installs all of it, and then nothing may be skipped
HAS_PACKAGES = (WEB / "node_modules" / "playwright-core").exists() and (WEB / "node_modules" / "esbuild").exists()

needs_node = pytest.mark.skipif(NODE is None and not REQUIRED, reason=WITHOUT_NODE)
needs_packages = pytest.mark.skipif(
    not HAS_PACKAGES and not REQUIRED,
    reason="the lab page was NOT built and tested: run `make web`, which needs npm",
)
needs_browser = pytest.mark.skipif(
    (CHROMIUM is None or not HAS_PACKAGES) and not REQUIRED,
    reason="the lab page was NOT tested in a browser: install Chromium and run `make web`",
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and not REQUIRED, reason="the server's page was NOT tested in a browser: install Chromium"
)

SERVE = """
const { readFileSync } = require("node:fs");
const { runInThisContext } = require("node:vm");
const page = readFileSync(process.argv[1], "utf8");
runInThisContext(/<script>([^]*)<\\/script>/.exec(page)[1]);
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  let reply;
  try { reply = rosenblattLab.answer(line); }
  catch (error) { reply = JSON.stringify({ error: String(error.message) }); }
  process.stdout.write(reply + "\\n");
});
"""


class Engine:
    """Runs the script of the built page in Node and asks it questions."""

    def __init__(self) -> None:
        assert NODE is not None, WITHOUT_NODE
        assert re.search(r"<script>", PAGE.read_text(encoding="utf-8")), "the page has no script"
        self.process = subprocess.Popen(
            [NODE, "-e", SERVE, str(PAGE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def ask(self, **question: Any) -> Any:
        """Return the answer; floats keep every bit, as both sides write the shortest text that reads back."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question, allow_nan=False) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.communicate(timeout=300)
