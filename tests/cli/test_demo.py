"""The demo runs the commands it shows, and ends with the path of the report."""

import numpy as np

import rosenblatt as rb


def test_demo(done, tmp_path):
    shown = done("demo", "-o", "seen")
    assert shown.splitlines()[-1] == "seen/report.html"
    assert "½·(0,0) + ½·(1,1) = ½·(1,0) + ½·(0,1)" in shown
    assert shown.count("the proof holds") == 3
    assert (tmp_path / "seen" / "report.html").stat().st_size > 10_000
    assert np.isfinite(rb.load(tmp_path / "seen" / "digits.model").coef_).all()
