"""One self-contained page about a model and its data."""

from __future__ import annotations

from rosenblatt.reports.page import render_report, write_report

__all__ = ["render_report", "write_report"]
