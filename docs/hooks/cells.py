"""Makes the page of every cell from the cell itself when the docs are built."""

from __future__ import annotations

import inspect
import io
import re
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import Any

import numpy as np
from latex2mathml.converter import convert
from mkdocs.structure.files import File

from tidegate import cells
from tidegate.calculus import derive, latex
from tidegate.cells import Cell

EXAMPLE = """\
import torch
from tidegate.layers import Recurrent

layer = Recurrent("{name}", input_size=3, hidden_size=4)
output, state, trace = layer(torch.randn(100, 2, 3), trace=True)
print(layer.states, tuple(output.shape))
print("gates:", *trace.gates)
"""


def on_config(config: Any) -> Any:
    """MkDocs asks for its settings: the pages stand before the lessons."""
    pages = ["cells/index.md", *(f"cells/{name}.md" for name in cells.names())]
    place = next((n for n, entry in enumerate(config.nav) if "Lessons" in entry), len(config.nav))
    config.nav.insert(place, {"Cells": pages})
    return config


def on_files(files: Any, *, config: Any) -> Any:
    """MkDocs asks for the files of the site."""
    files.append(File.generated(config, "cells/index.md", content=index()))
    for name in cells.names():
        files.append(File.generated(config, f"cells/{name}.md", content=page(name)))
    return files


def index() -> str:
    """The list of all cells."""
    lines = [
        "# Cells",
        "",
        "Each is written once, as equations; everything else follows from them.",
        "",
    ]
    lines += ["| cell | what it is | memories | learns online |", "|---|---|---|---|"]
    for name in cells.names():
        cell = cells.named(name)
        says = " ".join(parts(cell)["summary"].split("\n\n")[0].split()).rstrip(".")
        memories = ", ".join(cell.memory) or "none"
        lines.append(f"| [`{name}`]({name}.md) | {says} | {memories} | {online(cell)} |")
    return "\n".join(lines) + "\n"


def page(name: str) -> str:
    """One cell: what it is, equations, retention, when to use it, source, an example."""
    cell = cells.named(name)
    said = parts(cell)
    options = f"\n\nOptions: `{cell!r}`." if "(" in repr(cell) and "()" not in repr(cell) else ""
    return "\n\n".join(
        [
            f"# `{name}`", said["summary"] + options, "## Equations", equations(cell),
            "## Retention", retention(cell), "## When", said["use"],
            "## Source", said["source"], "## Example", example(name),
        ]
    ) + "\n"  # fmt: skip


def parts(cell: Cell) -> dict[str, str]:
    """The docstring's summary, its use and its source; names of code lose their roles."""
    text = inspect.cleandoc(type(cell).__doc__ or "")
    text = re.sub(r":class:`~?(?:\w+\.)*(\w+)`", r"`\1`", text).replace("``", "`")
    paragraphs = text.split("\n\n")
    found = {key: next(p for p in paragraphs if p.startswith(start)) for key, start in
             (("use", "Use it "), ("source", "Source: "))}  # fmt: skip
    found["source"] = found["source"].removeprefix("Source: ")
    found["summary"] = "\n\n".join(paragraphs[: paragraphs.index(found["use"])])
    return found


def equations(cell: Cell) -> str:
    """One line each, as MathML; what feeds every slot below."""
    lines = latex(cell).split(" \\\\\n")
    drawn = "\n".join(f"<p>{convert(line.replace('&=', '='))}</p>" for line in lines)
    return f'<div class="equations">\n{drawn}\n</div>'


def retention(cell: Cell) -> str:
    """What every memory keeps in a step, by number, at the start of learning."""
    eq = derive(cell)
    if not eq.log_retention:
        return "No memory has a direct path from step to step: nothing is kept."
    known = {f"z.{slot}": np.zeros(1) for slot in cell.slots}
    known |= {f"past.{m}": np.full(1, max(cell.start.get(m, 1.0), 0.0)) for m in cell.memory}
    rng = np.random.default_rng(0)
    known |= {f"par.{p}": np.full(1, law(rng, 64).mean()) for p, law in cell.parameters.items()}
    lines = ["With all pre-activations at 0 and memories at 1:", ""]
    lines += ["| memory | kept per step | half-life in steps |", "|---|---|---|"]
    for name, value in eq.evaluate(eq.log_retention, known).items():
        log = float(np.ravel(value)[0])
        life = f"{np.log(0.5) / log:.3g}" if log < 0 else "for ever"
        lines.append(f"| {name} | {np.exp(log):.4g} | {life} |")
    return "\n".join(lines)


def online(cell: Cell) -> str:
    """Whether it can learn online."""
    if cell.second_product or cell.fed_by("norm"):
        return "no"
    return "exact" if not cell.fed_by("hidden") else "yes"


def example(name: str) -> str:
    """The code, and what it prints when it is run."""
    code, said = EXAMPLE.format(name=name), io.StringIO()
    with redirect_stdout(said):
        exec(compile(code, name, "exec"), vars(SimpleNamespace()))
    return f"```python\n{code}```\n\n```text\n{said.getvalue()}```"
