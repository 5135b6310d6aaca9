"""What a run was asked to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``tidegate run`` under the names its help gives them.

    Attributes:
        file: a path, ``-`` for standard input, None for the stream that comes with the package.
        inputs: columns to learn from beside the target.
        warmup: rows not scored; None lets the stream's clock decide.
        format: of the records; None lets the end of ``out`` decide.
        out: where the records go beside the folder ``save``.
    """

    file: str | None
    target: str | None
    time: str | None
    inputs: tuple[str, ...]
    cell: str
    units: int
    seed: int
    warmup: int | None
    on_bad_row: str
    save: str | None
    format: str | None
    out: str | None
