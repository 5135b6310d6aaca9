"""Where the traces of a model of several networks lie: a folder for each, named as it is."""

from __future__ import annotations

from pathlib import Path

__all__ = ["folder_of", "traced"]


def folder_of(trace: Path, name: str) -> Path:
    """Where the trace of the network ``name`` lies.

    >>> folder_of(Path("trace"), "smooth long").name
    'smooth-long'
    """
    return trace / name.replace(" ", "-")


def traced(trace: Path) -> list[str]:
    """The networks that were recorded in the folder ``trace``, by name.

    >>> traced(Path("nowhere"))
    []
    """
    if not trace.is_dir():
        return []
    return sorted(path.name.replace("-", " ") for path in trace.iterdir() if path.is_dir())
