"""The LaTeX of a cell's equations as MathML, which browsers draw without any library.

Reads what :func:`tidegate.calculus.latex.latex` writes and nothing more. A symbol may be given an
attribute, so that a page can put numbers in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from tidegate._core.errors import UsageError

__all__ = ["mathml"]

TOKEN = re.compile(r"\\[A-Za-z]+|[A-Za-z]+|\d+(?:\.\d+)?|[{}()|_^+\-=&,]|\S")
SIGNS = {r"\odot": "⊙", r"\cdot": "·", "-": "−"}
GREEK = {r"\sigma": "σ"}
FUNCTIONS = {r"\tanh": "tanh", r"\exp": "exp", r"\log": "log", r"\max": "max", r"\min": "min"}

Symbol = Callable[[str, str], str]


def mathml(latex: str, symbol: Symbol = lambda name, drawn: drawn) -> str:
    """A row of MathML for one line of LaTeX.

    Args:
        symbol: what to draw for a symbol, from its LaTeX (``c_{t-1}``) and its own drawing.

    Raises:
        UsageError: the LaTeX holds what cells' equations do not.

    >>> mathml(r"c_t &= f_t \\odot x")
    '<mrow><msub><mi>c</mi><mi>t</mi></msub><mo>=</mo><msub><mi>f</mi><mi>t</mi></msub><mo>⊙</mo><mi>x</mi></mrow>'
    """
    reader = _Reader(TOKEN.findall(latex.replace("&", "")), symbol)
    return reader.row(end=None)


class _Reader:
    def __init__(self, tokens: list[str], symbol: Symbol) -> None:
        self.tokens, self.symbol, self.at = tokens, symbol, 0

    def row(self, end: str | None) -> str:
        """What stands up to the token ``end``, which is passed over."""
        parts: list[str] = []
        while self.at < len(self.tokens) and self.tokens[self.at] != end:
            parts.append(self.one())
        if end is not None:
            self.take()
        return f"<mrow>{''.join(parts)}</mrow>"

    def take(self) -> str:
        if self.at == len(self.tokens):
            raise UsageError("mathml", "a whole formula", "one that is cut", "Close its brackets.")
        self.at += 1
        return self.tokens[self.at - 1]

    def one(self) -> str:
        token = self.take()
        if token == r"\left":
            return self._fenced(self.take())
        if token == "{":
            return self.row("}")
        if token == r"\frac":
            return f"<mfrac>{self.one()}{self.one()}</mfrac>"
        if token == r"\sqrt":
            return f"<msqrt>{self.one()}</msqrt>"
        if token == r"\operatorname":
            return f"<mi>{self._raw()}</mi>"
        if token in FUNCTIONS:
            return f"<mi>{FUNCTIONS[token]}</mi>"
        if token[0].isdigit():
            return self._powered(f"<mn>{token}</mn>")
        if token.isalpha() or token in GREEK:
            return self._symbol(token)
        if token.startswith("\\") and token not in SIGNS:
            raise UsageError("mathml", "LaTeX of a cell's equations", token, "Draw it otherwise.")
        return f"<mo>{escape(SIGNS.get(token, token))}</mo>"

    def _fenced(self, opening: str) -> str:
        inner = self.row(r"\right")
        closing = self.take()
        return f"<mrow><mo>{escape(opening)}</mo>{inner}<mo>{escape(closing)}</mo></mrow>"

    def _symbol(self, token: str) -> str:
        letter = f"<mi>{GREEK.get(token, token)}</mi>"
        if self.at == len(self.tokens) or self.tokens[self.at] != "_":
            return self.symbol(token, letter)
        self.take()
        written = self._index()
        drawn = _Reader(TOKEN.findall(written), lambda name, own: own).row(end=None)
        return self.symbol(f"{token}_{written}", f"<msub>{letter}{_plain(drawn)}</msub>")

    def _index(self) -> str:
        first = self.at
        if self.take() == "{":
            while self.take() != "}":
                pass
        return "".join(self.tokens[first : self.at])

    def _powered(self, number: str) -> str:
        if self.at == len(self.tokens) or self.tokens[self.at] != "^":
            return number
        self.take()
        return f"<msup>{number}{self.one()}</msup>"

    def _raw(self) -> str:
        self.take()
        words = []
        while (token := self.take()) != "}":
            words.append(token)
        return escape("".join(words))


def _plain(below: str) -> str:
    """An index of one sign needs no row of its own."""
    inner = below.replace("<mrow>", "").replace("</mrow>", "")
    return inner if inner.count("<m") == 1 else below
