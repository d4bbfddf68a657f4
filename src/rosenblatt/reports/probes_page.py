"""A page about probes: the table, the picture, and how to read them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from rosenblatt.atomic import write_whole
from rosenblatt.plot.bars import probes as draw
from rosenblatt.reports.page import environment_of_pages
from rosenblatt.reports.sections import picture

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:;
 base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{ title }}</title>
{{ look }}
</head>
<body><main>
<h1>{{ title }}</h1>
<p class="soft">{{ summary }}</p>
<section>
<h2>What was measured</h2>
{% if picture %}<figure>{{ picture }}</figure>{% endif %}
<div class="wide"><table class="small" style="margin-top:1rem; white-space:nowrap">
<thead><tr>{% for name in names %}<th class="t">{{ name.replace("_", " ") }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in rows %}
<tr>{% for cell in row %}{% if names[loop.index0] in words %}<td class="t">{{ cell }}</td>
{% else %}<td>{{ cell.replace("-", "−") }}</td>
{% endif %}
{% endfor %}</tr>
{% endfor %}
</tbody></table></div>
</section>
<section>
<h2>How to read it</h2>
{% for text in notes %}
<p>{{ text }}</p>
{% endfor %}
</section>
<section>
<h2>How it was made</h2>
<table>
{% for name, value in facts %}
<tr><th class="t" scope="row">{{ name }}</th><td class="t">{{ value }}</td></tr>
{% endfor %}
</table>
</section>
</main></body></html>
"""
MEANINGS = {
    "accuracy": "accuracy is the share of rows that are right when they are left out, each judged by a probe that "
    "was trained on the other folds. In brackets is Wilson's interval of 95 %. Compare it with majority, the "
    "share of the larger side.",
    "training": "training is the share of rows that the probe predicts right after training on them. A high share "
    "here and a low accuracy mean that the probe has memorised rows.",
    "control": "control is the accuracy for random labels on the same folds. selectivity is the difference: what "
    "the probe owes to the labels and not to its own capacity (Hewitt and Liang 2019).",
    "separable": "separable says whether some hyperplane is right on all rows of a problem; yes and no are "
    "proved.",
}


def render_probes(trained: Any, *, title: str | None = None, provenance: Mapping[str, Any] | None = None) -> str:
    """Return a page about trained probes, which needs no network, no script and no other file.

    Parameters
    ----------
    trained : Probes or ProbeLayers
        The probes.
    title : str or None
        The heading.
    provenance : mapping or None
        Where the rows and labels come from.

    Examples
    --------
    >>> import numpy as np
    >>> import rosenblatt as rb
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> page = render_probes(rb.Probes(controls=1).fit(X, {"first": X[:, 0] > 0}))
    >>> "selectivity" in page, "first" in page
    (True, True)
    """
    table = trained.table()
    names, *rows = table.cells()
    measured = all(result.accuracy is not None for result in table)
    lines = len({result.name for result in table})
    wide = 6.8 if table.layers is None else 2.6 + 0.75 * len(set(table.layers))
    size = wide, 1.3 + 0.32 * lines
    described = "The accuracy of each probe; the numbers are in the table below."
    shown = picture(lambda ax: draw(trained, ax=ax), size, "probes", described) if measured else None
    one = trained if table.layers is None else next(iter(trained.layers.values()))
    facts = [(name, str(value)) for name, value in {**(provenance or {}), **one.get_params()}.items()]
    environment = environment_of_pages()
    look = files("rosenblatt.reports").joinpath("template.html").read_text(encoding="utf-8")
    style = look[look.index("<style>") : look.index("</style>") + len("</style>")]
    from markupsafe import Markup

    return environment.from_string(TEMPLATE).render(
        title=title or "Linear probes",
        look=Markup(style),
        summary=f"{len(table):,} probes with {one.n_features_in_:,} features.",
        picture=shown,
        names=names,
        rows=rows,
        words={"layer", "probe", "end", "separable"},
        notes=[*(text for name, text in MEANINGS.items() if name in names), *table.notes],
        facts=facts,
    )


def write_probes(path: str | os.PathLike[str], trained: Any, **options: Any) -> Path:
    """Write the page of `render_probes` to a file, whole or not at all, and return its path."""
    write_whole(path, render_probes(trained, **options).encode("utf-8"))
    return Path(path)
