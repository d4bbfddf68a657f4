"""A Sphinx extension: a picture whose name has a sibling with ``_dark`` shows that one on dark pages.

A page names the light picture alone. Figures of the gallery are drawn once and written twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform


def dark_of(path: Path) -> Path:
    """Return where the dark version of a picture is, if there is one."""
    return path.with_name(f"{path.stem}_dark{path.suffix}")


class DarkPictures(SphinxTransform):
    """Show each of both versions on its pages alone; a browser loads only the one that it shows."""

    default_priority = 5  # before Sphinx collects the pictures

    def apply(self, **kwargs: Any) -> None:
        """Put the dark version behind each light one."""
        source = Path(self.env.srcdir)
        for light in list(self.document.findall(nodes.image)):
            uri = light["uri"]
            place = source / uri.lstrip("/") if uri.startswith("/") else (source / self.env.docname).parent / uri
            if "://" in uri or "only-light" in light["classes"] or not dark_of(place).exists():
                continue
            light["loading"] = "lazy"
            dark = light.deepcopy()
            dark["uri"] = str(dark_of(Path(uri)))
            light["classes"].append("only-light")
            dark["classes"].append("only-dark")
            light.parent.insert(light.parent.index(light) + 1, dark)


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Write the figures of a block of the gallery, light and dark, and return the lines that show them."""
    from matplotlib import pyplot as plt

    from rosenblatt.plot import style

    shown = []
    for number, path in zip(plt.get_fignums(), block_vars["image_path_iterator"], strict=False):
        figure = plt.figure(number)
        title = block_vars.get("src_file", "")
        figure.savefig(path, dpi=100)
        style.darken(figure)
        figure.savefig(dark_of(Path(path)), dpi=100)
        uri = "/" + Path(path).relative_to(gallery_conf["src_dir"]).as_posix()
        shown.append(f".. image:: {uri}\n   :alt: What {Path(title).stem} draws\n   :class: sphx-glr-single-img\n")
    plt.close("all")
    return "\n".join(shown)


def setup(app: Any) -> dict[str, bool]:
    """Register the transform."""
    app.add_transform(DarkPictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
