"""A cell's equations for a page: as symbols, and with places for the numbers of one step."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from tidegate._core.discovery import members
from tidegate._core.trace import Trace
from tidegate.calculus import derive
from tidegate.calculus.graph import Node, depends
from tidegate.calculus.latex import latex
from tidegate.cells import Cell
from tidegate.report.mathml import mathml

__all__ = ["Equation", "cell_of", "equations", "roles"]

SYMBOL = re.compile(r"([A-Za-z]+)_(?:\{(.+)\}|(.))")
#: a number that has brackets of its own round it
SOLE = re.compile(r"(<mo>\(</mo><mrow><mn [^>]*)>(?=\?</mn></mrow><mo>\))")


@dataclass(frozen=True)
class Equation:
    """One equation in MathML.

    Attributes:
        symbols: as it is written.
        numbers: with ``<mn data-value="part.name" data-before="0|1">`` where a recorded value
            goes, the result included; None where something in it is not recorded.
        result: ``part.name`` of what it gives, as the Trace names it.

    >>> Equation("<mi>h</mi>", None, "hidden.h").result
    'hidden.h'
    """

    symbols: str
    numbers: str | None
    result: str | None


def cell_of(written: str) -> Cell | None:
    """The cell that a Trace names, such as ``LSTM(forget_bias=1.0)``; None where it is not ours.

    >>> cell_of("LSTM(forget_bias=1.0)"), cell_of("MyOwn()")
    (LSTM(forget_bias=1.0), None)
    """
    found = members("tidegate.cells", Cell)  # type: ignore[type-abstract]
    kinds = {kind.__name__: kind for kind in found.values()}
    name = written.partition("(")[0]
    if name not in kinds:
        return None
    try:
        call = ast.parse(written, mode="eval").body
        options = {str(k.arg): ast.literal_eval(k.value) for k in getattr(call, "keywords", [])}
        return kinds[name](**options)
    except (SyntaxError, ValueError, TypeError):
        # An option that cannot be read back (a law of biases) changes no equation.
        return kinds[name]()


def equations(cell: Cell, trace: Trace) -> list[Equation]:
    """Every equation of ``cell``, with places for what ``trace`` recorded.

    >>> import numpy as np
    >>> from tidegate.cells import LSTM
    >>> kept = np.zeros((2, 1, 1))
    >>> found = equations(LSTM(), Trace({"c": kept}, {"c": kept}, {"h": kept}))
    >>> [equation.result for equation in found][-2:]
    ['memory.c', 'hidden.h']
    """
    known = {
        n: f"{part}.{n}" for part in ("gates", "hidden", "memory") for n in getattr(trace, part)
    }
    return [_equation(line.strip(), known) for line in latex(cell).split("\\\\\n")]


def roles(cell: Cell, memory: str) -> dict[str, str]:
    """What each gate does to ``memory``: ``keep``, ``show`` or ``write``.

    >>> from tidegate.cells import LSTM
    >>> roles(LSTM(), "c")
    {'i': 'write', 'f': 'keep', 'g': 'write', 'o': 'show'}
    """
    eq = derive(cell)
    keep = eq.keep.get((memory, memory))

    def role(gate: Node) -> str:
        if keep is not None and depends(keep, gate):
            return "keep"
        return "write" if depends(eq.memory[memory], gate) else "show"

    return {name: role(gate) for name, gate in eq.gates.items()}


def _equation(line: str, known: dict[str, str]) -> Equation:
    left, _, right = line.partition(" &= ")
    result = _named(left, known)
    symbols = f"{mathml(left)}<mo>=</mo>{mathml(right)}"
    if result is None:
        return Equation(symbols, None, None)
    missing: list[str] = []
    inserted = SOLE.sub(r'\1 data-last="1">', mathml(right, _inserting(known, missing)))
    given = _place(*result, last=True)
    numbers = given if missing else f"{inserted}<mo>=</mo>{given}"
    return Equation(symbols, numbers, result[0])


def _inserting(known: dict[str, str], missing: list[str]) -> Callable[[str, str], str]:
    def insert(symbol: str, drawn: str) -> str:
        if symbol == r"\sigma":
            return drawn
        found = _named(symbol, known)
        if found is None:
            missing.append(symbol)
            return drawn
        return _place(*found)

    return insert


def _place(path: str, before: bool, last: bool = False) -> str:
    """Where a number goes; the last of a line needs no brackets where it is negative."""
    end = ' data-last="1"' if last else ""
    return f'<mn data-value="{path}" data-before="{int(before)}"{end}>?</mn>'


def _named(symbol: str, known: dict[str, str]) -> tuple[str, bool] | None:
    """``c_{2,t-1}`` -> ("memory.c2", True): the recorded name, and whether of the step before."""
    found = SYMBOL.fullmatch(symbol)
    if found is None:
        return None
    *index, time = (found[2] or found[3]).split(",")
    if time not in ("t", "t-1"):
        return None
    for name in (found[1] + "".join(index), "_".join([found[1], *index])):
        if name in known:
            return known[name], time == "t-1"
    return None
