"""Records as columns of a Parquet file, whose types depend on the names alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self

from tidegate._core.errors import UsageError
from tidegate._core.recorders import FileRecorder, require_known
from tidegate._core.records import Cell, Forecast, Record, RowRecord
from tidegate._core.sinks import Sink

ROW_GROUP = 8192

# Names of experts come after "experts." or "half_lives.": neither pattern takes them.
TEXTS = re.compile(r"key|flags|((next\.)(path\.\d+\.)?)?time")
CATEGORY = "bits"  # a column of the records of categories alone
CATEGORY_TEXTS = {"prediction", "actual", "next.prediction", "next.probabilities"}
STEPS = re.compile(r"(next\.path\.\d+\.)?step")
NOTHING = Record(
    step=0,
    time=None,
    prediction=None,
    actual=None,
    error=None,
    next=Forecast(time=None, prediction=None),
)


class ParquetRecorder(FileRecorder):
    """The same columns in Parquet; the file can be read once it is closed, and never continued.

    Raises:
        ValueError: a later record has a column the first one lacks.
    """

    name = "parquet"

    def __init__(self, file: Sink) -> None:
        super().__init__(file)
        self._names: Collection[str] = ()
        self._rows: list[dict[str, Cell]] = []
        self._writer: Any = None

    @classmethod
    def resumed(cls, out: str, step: int) -> Self:
        """Refuses: what was not closed cannot be read.

        Raises:
            UsageError: always.
        """
        got, hint = "a Parquet file", "Records in pieces can be continued; see PieceRecorder."
        raise UsageError(out, "records that can be continued", got, hint)

    def write(self, record: RowRecord) -> None:
        """Keeps one row; writes a group of them when it is full."""
        columns = record.to_columns()
        self._names = self._names or columns.keys()
        require_known(columns, self._names)
        self._rows.append(columns)
        if len(self._rows) == ROW_GROUP:
            self._write_group()

    def finish(self) -> None:
        """Writes the last group and the table of contents."""
        if self._rows or self._writer is None:
            self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped]

        group = as_table(self._rows, self._names or NOTHING.to_columns())
        if self._writer is None:
            self._writer = ParquetWriter(self._file, group.schema, write_page_checksum=True)
        self._writer.write_table(group)
        self._file.flush()
        self._rows.clear()


def as_table(rows: Sequence[Mapping[str, Cell]], names: Iterable[str]) -> Any:
    """Rows as a pyarrow.Table, whose types depend on the names alone."""
    import pyarrow as pa  # type: ignore[import-untyped]

    names = list(names)
    texts = CATEGORY_TEXTS if CATEGORY in names else ()
    schema = pa.schema([(name, _arrow_type(name, texts)) for name in names])
    return pa.Table.from_pylist(rows, schema=schema)


def _arrow_type(name: str, texts: Collection[str]) -> str:
    if name in texts or TEXTS.fullmatch(name):
        return "string"
    return "int64" if STEPS.fullmatch(name) else "double"
