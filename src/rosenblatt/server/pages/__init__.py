"""Pages of the server: whole files without a build step, each with a policy that allows exactly what is in it."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

__all__ = ["live_page", "page_policy"]

SCRIPT, STYLE = re.compile(r"<script>(.*?)</script>", re.DOTALL), re.compile(r"<style>(.*?)</style>", re.DOTALL)


def live_page() -> str:
    """Return the page that shows each model as it learns."""
    return (files("rosenblatt") / "server" / "pages" / "live.html").read_text(encoding="utf-8")


def page_policy(page: str) -> str:
    """Return the content security policy of a page: its own script and style by their hashes, and calls to us.

    Examples
    --------
    >>> page_policy("<p>plain</p>").partition(";")[0]
    "default-src 'none'"
    """
    allowed = {"script-src": SCRIPT.findall(page), "style-src": STYLE.findall(page)}
    parts = ["default-src 'none'"]
    for what, texts in allowed.items():
        if texts:
            parts.append(f"{what} {' '.join(map(_hash, texts))}")
    if allowed["script-src"]:
        parts.append("connect-src 'self'")
    return "; ".join([*parts, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
