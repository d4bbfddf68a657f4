"""The live page: nothing of another server, a policy that fits it, and labels that stay labels."""

import html
import os
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256

import pytest

from rosenblatt.server.pages import live_page, page_policy
from tests.lab.lab_engine import CHROMIUM, needs_chromium
from tests.shared.serving import learn, save_models, serving


def test_the_page_loads_nothing_and_writes_no_html():
    page = live_page()
    assert not re.search(r"(src|href)=\"(?!/)", page)
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    for danger in ("innerHTML", "insertAdjacentHTML", "document.write", "eval(", "onclick", " style="):
        assert danger not in page


def test_the_policy_allows_the_page_and_nothing_else(tmp_path):
    with serving(tmp_path / "data", save_models(tmp_path)) as client:
        answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    script = re.search(r"<script>(.*?)</script>", answer.text, re.DOTALL)[1]
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'")
    for word in ("unsafe", "*", "http"):
        assert word not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert page_policy("<script>x</script>") != page_policy("<script>y</script>")


def test_events_are_listed_without_their_rows(tmp_path):
    with serving(tmp_path / "data", save_models(tmp_path)) as client:
        for word in ("secret one", "secret two", "secret three"):
            learn(client, "spam", [word], ["ham"])
        answer = client.get("/v1/models/spam/events?last=2")
        assert [each["version"] for each in answer.json()["events"]] == [3, 2]
        assert {each["rows"] for each in answer.json()["events"]} == {1}
        assert "secret" not in answer.text
        for wrong in ("0", "101", "x", "-1", "1.5", "²"):
            assert client.get("/v1/models/spam/events", params={"last": wrong}).status_code == 422


@pytest.mark.slow
@needs_chromium
@pytest.mark.skipif(sys.platform != "linux", reason="the flags of Chromium are those of Linux")
def test_a_browser_shows_models_and_escapes_labels(tmp_path):
    """The page as a browser renders it, from a server of its own, with a label that is markup."""
    import rosenblatt as rb

    label = '<img src=x onerror="document.title=1">'
    rb.save(rb.Perceptron().fit([[0.0], [1.0]], [label, "fine"]), tmp_path / "m.model")
    with subprocess.Popen(
        [sys.executable, "-m", "rosenblatt", "serve", "m.model", "--port", "0"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            address = re.search(r"http://[\d.:]+", server.stderr.readline())[0]
            shown = subprocess.run(
                [
                    CHROMIUM,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--virtual-time-budget=3000",
                    "--dump-dom",
                    address,
                ],
                capture_output=True,
                text=True,
                timeout=120,
                env=os.environ | {"HOME": str(tmp_path)},
            ).stdout
        finally:
            server.terminate()
    assert ">ready</span>" in shown
    assert "Perceptron · 2 classes" in shown
    assert html.escape(label, quote=False) in shown
    assert "<img" not in shown
