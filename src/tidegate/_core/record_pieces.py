"""Records of long runs: a folder of Parquet files, each closed, so that a run can go on in it."""

from __future__ import annotations

import io
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tidegate._core.errors import DataError, UsageError
from tidegate._core.parquet_recorder import as_table
from tidegate._core.record_ends import lost
from tidegate._core.recorders import Recorder, require_known
from tidegate._core.records import Cell, RowRecord
from tidegate._core.whole_file import replace_file

ROWS = 8192


class PieceRecorder(Recorder):
    """Pieces of 8,192 records, named by the step of their first: ``000000000001.parquet``.

    Rows stay in memory until their piece is full or :meth:`sync` is called, which writes the open
    piece as it stands; it is replaced as it grows. What is written depends on the records alone:
    the folder of a run that was resumed equals that of an unbroken one, byte for byte. It reads
    as one table: ``pyarrow.parquet.read_table(folder)``.

    Args:
        folder: made where there is none.
        step: the last record to keep of a run before; later ones are removed. 0 keeps none.

    Raises:
        UsageError: the folder cannot be made or emptied.
        DataError: it does not hold the records up to ``step``.
        ValueError: a later record has a column the first one lacks.

    >>> import tempfile
    >>> from tidegate._core.records import Forecast, Record
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with PieceRecorder(Path(folder)) as recorder:
    ...         recorder.write(Record(step=7, time=None, prediction=None, actual=5.0, error=None,
    ...                               next=Forecast(time=None, prediction=5.5)))
    ...     [path.name for path in Path(folder).iterdir()]
    ['000000000007.parquet']
    """

    def __init__(self, folder: Path, step: int = 0) -> None:
        self._folder = folder
        self._rows: list[dict[str, Cell]] = []
        self._names: Collection[str] = ()
        self._written = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._cut_back(step)
        except OSError as error:
            hint = "Check the path and its permissions."
            got = error.strerror or str(error)
            raise UsageError(str(folder), "a folder for records", got, hint) from error

    def write(self, record: RowRecord) -> None:
        columns = record.to_columns()
        self._names = self._names or columns.keys()
        require_known(columns, self._names)
        self._rows.append(columns)
        if len(self._rows) == ROWS:
            self.sync()
            self._rows, self._written = [], 0

    def sync(self) -> None:
        if len(self._rows) == self._written:
            return
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        content = io.BytesIO()
        pq.write_table(as_table(self._rows, self._names), content, write_page_checksum=True)
        name = f"{self._rows[0]['step']:012d}.parquet"
        replace_file(self._folder / name, content.getvalue())
        self._written = len(self._rows)

    def close(self) -> None:
        self.sync()

    def _cut_back(self, step: int) -> None:
        """Removes what came after ``step``, the last piece first, and takes up the open piece."""
        for leftover in self._folder.glob(".*.parquet.*.part"):
            leftover.unlink()
        pieces = sorted(self._folder.glob("[0-9]*.parquet"))
        while pieces and int(pieces[-1].stem) > step:
            pieces.pop().unlink()
        if step:
            self._take_up(pieces, step)

    def _take_up(self, pieces: list[Path], step: int) -> None:
        if not pieces:
            raise lost(str(self._folder), step, "none")
        piece = _read(pieces[-1])
        rows = [row for row in piece.to_pylist() if row["step"] <= step]
        if not rows or rows[-1]["step"] != step:
            reached = rows[-1]["step"] if rows else "another"
            raise lost(str(self._folder), step, f"records up to step {reached}")
        self._names = piece.column_names
        if len(rows) < ROWS:
            self._rows = rows
            # Written rows that were cut off count as a change.
            self._written = len(rows) if len(rows) == len(piece) else 0


def _read(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        hint = "Start anew in another folder."
        raise DataError(str(path), "a sound piece of records", str(error), hint) from error
