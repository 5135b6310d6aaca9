"""Carries out the code of the lessons when the docs are built, and puts in what it gives.

In a page under ``lessons/``, in order and in one namespace:

    ```python                       is run and shown; what it prints is shown below
    ```python figure "what it shows"    is run and folded away; its ``figure`` is shown instead
    {{ expression }}                becomes its value, also ``{{ value:.3f }}``

A block that fails stops the build.
"""

from __future__ import annotations

import io
import re
import textwrap
from contextlib import redirect_stdout
from html import escape
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page

FOLDER = "lessons/"
BLOCK = re.compile(
    r'^```python(?: figure "(?P<says>[^"\n]+)")?\n(?P<code>.*?)^```$\n?', re.MULTILINE | re.DOTALL
)
VALUE = re.compile(r"\{\{ (.+?)(?::([^{}:]+))? \}\}")


def on_page_markdown(markdown: str, *, page: Page, **others: Any) -> str:
    """MkDocs asks every page through here."""
    if not page.file.src_uri.startswith(FOLDER):
        return markdown
    return carried_out(markdown, page.file.src_uri)


def carried_out(markdown: str, name: str) -> str:
    """The page with the results in it.

    Raises:
        PluginError: a block or an expression fails; names the page.
    """
    namespace: dict[str, Any] = {"__name__": name}
    parts: list[str] = []
    at = 0
    for block in BLOCK.finditer(markdown):
        parts.append(_values(markdown[at : block.start()], namespace, name))
        parts.append(_block(block["code"], block["says"], namespace, name))
        at = block.end()
    parts.append(_values(markdown[at:], namespace, name))
    return "".join(parts)


def _block(code: str, says: str | None, namespace: dict[str, Any], name: str) -> str:
    said = io.StringIO()
    try:
        with redirect_stdout(said), _settings():
            exec(compile(code, name, "exec"), namespace)
    except Exception as error:
        raise PluginError(f"{name}: {type(error).__name__}: {error}\n{code}") from error
    if says is not None:
        folded = textwrap.indent(f"```python\n{code}```\n", "    ")
        picture = _picture(namespace["figure"], says)
        return f'{picture}\n\n??? note "The code of the picture"\n\n{folded}\n'
    shown = f"```python\n{code}```\n"
    return f"{shown}\n```text\n{said.getvalue()}```\n" if said.getvalue() else shown


def _values(text: str, namespace: dict[str, Any], name: str) -> str:
    def value(found: re.Match[str]) -> str:
        try:
            return format(eval(found[1], namespace), found[2] or "")
        except Exception as error:
            raise PluginError(f"{name}: {found[0]}: {type(error).__name__}: {error}") from error

    return VALUE.sub(value, text)


def _picture(figure: Any, says: str) -> str:
    """The figure as SVG in the page, in the page's own colour of ink."""
    content = io.StringIO()
    with _settings():
        figure.savefig(content, format="svg", transparent=True, metadata={"Date": None})
    drawn = content.getvalue()
    drawn = drawn[drawn.index("<svg") :].replace("#000000", "currentColor")
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = drawn.replace("<svg ", '<svg fill="currentColor" aria-hidden="true" ', 1)
    one_line = re.sub(r"\s*\n\s*", " ", drawn)
    return f'<figure class="picture" role="img" aria-label="{escape(says)}">{one_line}</figure>\n'


def _settings() -> Any:
    """Colours for every eye, on light and dark pages; the same names at every build."""
    import matplotlib
    from cycler import cycler

    colours = cycler(color=["#2a8fd0", "#e0792a", "#2aa876", "#c26aa8", "#8a8a8a"])
    return matplotlib.rc_context({"svg.hashsalt": "lessons", "axes.prop_cycle": colours})
