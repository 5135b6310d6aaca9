"""Rows from a Parquet file, in batches of constant memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from numpy.typing import NDArray

from tidegate._core.errors import DataError, UsageError
from tidegate.streams.bad_rows import BadRows, bad_cell, category_of, not_utf8, require_key
from tidegate.streams.base import Row, Stream
from tidegate.streams.columns import positions
from tidegate.streams.numbers import Number, cell_hint

BATCH = 4096
BUFFER = 1 << 20


class ParquetStream(Stream):
    """The rows of one Parquet file; nulls and what is not finite are missing values.

    Integers and decimals become the nearest float64; text is read as a CSV cell is. Times of any
    type are handed on as Arrow writes them, ``2015-07-01 00:00:00``.

    Args:
        source: the path.
        columns: names of the target and of the inputs.
        time: name of the time column, or None.
        number: what a text is worth, where a column holds text.
        bad_rows: what becomes of rows that cannot be read.
        key: name of the column that tells one stream from another, or None.
        category: name of the column of categories, or None.

    Raises:
        DataError: the file is no Parquet file, or a damaged one.
        UsageError: a name is not among its columns, or the column holds no numbers.

    >>> import tempfile, pyarrow
    >>> from tidegate.streams import StopAtBadRow, decimal_point
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
    ...     pq.write_table(pyarrow.table({"load": [5, None]}), file.name)
    ...     stream = ParquetStream(file.name, ["load"], None, decimal_point, StopAtBadRow())
    ...     [row.values.tolist() for row in stream]
    [[5.0], [nan]]
    """

    def __init__(
        self,
        source: str,
        columns: Sequence[str],
        time: str | None,
        number: Number,
        bad_rows: BadRows,
        key: str | None = None,
        category: str | None = None,
    ) -> None:
        self.source = source
        self.columns = tuple(columns)
        self._number = number
        self._bad_rows = bad_rows
        self._time, self._key, self._category = time, key, category
        self._wanted = [*columns, *(name for name in (time, key, category) if name is not None)]
        with self._opened() as file:
            schema = file.schema_arrow
        positions(schema.names, self._wanted, source)
        for name in columns:
            _require_numbers(schema.field(name), source)
        self._batches = self._read()
        self._start = 0

    def __iter__(self) -> Iterator[Row]:
        for batch in self._batches:
            start, self._start = self._start, self._start + batch.num_rows
            values, errors = self._values(batch, start + 1)
            times = self._times(batch, start + 1, errors)
            keys = self._keys(batch, start + 1, errors)
            categories = self._categories(batch, start + 1, errors)
            for i in range(batch.num_rows):
                if i in errors:
                    self._bad_rows(errors[i])
                else:
                    yield Row(start + i + 1, times[i], values[i], keys[i], categories[i])

    def _opened(self) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(
                self.source, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
            )
        except (pa.ArrowException, OSError) as error:
            raise self._broken(error) from error

    def _read(self) -> Iterator[pa.RecordBatch]:
        with self._opened() as file:
            try:
                yield from file.iter_batches(BATCH, columns=self._wanted)
            except (pa.ArrowException, OSError) as error:
                raise self._broken(error) from error

    def _values(
        self, batch: pa.RecordBatch, first: int
    ) -> tuple[NDArray[np.float64], dict[int, DataError]]:
        """Float64 (row, column), and the errors of the bad rows by their place in the batch."""
        values = np.empty((batch.num_rows, len(self.columns)))
        errors: dict[int, DataError] = {}
        for place, name in enumerate(self.columns):
            column = batch.column(name)
            if not _is_text(column.type):
                values[:, place] = column.cast(pa.float64(), safe=False).to_numpy(False)
                continue
            for i, text in enumerate(_texts(column)):
                try:
                    values[i, place] = self._number(text)
                except ValueError:
                    hint = cell_hint(self._number, text, place == 0)
                    error = bad_cell(self.source, first + i, name, "a number", text, hint)
                    errors.setdefault(i, error)
        values[~np.isfinite(values)] = np.nan
        return values, errors

    def _times(
        self, batch: pa.RecordBatch, first: int, errors: dict[int, DataError]
    ) -> list[str | None]:
        """The texts of the times; what no record can carry is added to ``errors``."""
        if self._time is None:
            return [None] * batch.num_rows
        texts = self._written(batch, self._time)
        for i, text in enumerate(texts):
            if not_utf8(text):
                error = bad_cell(self.source, first + i, self._time, "a time in UTF-8", text)
                errors.setdefault(i, error)
        return [text or None for text in texts]

    def _keys(
        self, batch: pa.RecordBatch, first: int, errors: dict[int, DataError]
    ) -> list[str] | list[None]:
        """The names of the rows' streams; what names none is added to ``errors``."""
        if self._key is None:
            return [None] * batch.num_rows
        texts = [text.strip() for text in self._written(batch, self._key)]
        for i, text in enumerate(texts):
            try:
                require_key(self.source, first + i, self._key, text)
            except DataError as error:
                errors.setdefault(i, error)
        return texts

    def _categories(
        self, batch: pa.RecordBatch, first: int, errors: dict[int, DataError]
    ) -> list[str | None]:
        """The rows' categories; what is no text that can be written is added to ``errors``."""
        found: list[str | None] = [None] * batch.num_rows
        if self._category is None:
            return found
        for i, text in enumerate(self._written(batch, self._category)):
            try:
                found[i] = category_of(self.source, first + i, self._category, text)
            except DataError as error:
                errors.setdefault(i, error)
        return found

    def _written(self, batch: pa.RecordBatch, name: str) -> list[str]:
        """A column of any type as texts."""
        column = batch.column(name)
        try:
            return _texts(column if _is_text(column.type) else column.cast(pa.string()))
        except pa.ArrowException as reason:
            raise self._broken(reason) from reason

    def _broken(self, error: Exception) -> DataError:
        return DataError(self.source, "a sound Parquet file", str(error), "Is it complete?")


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _texts(column: pa.Array) -> list[str]:
    """Texts, empty for null; what is no UTF-8 comes as the lone surrogates a CSV cell has there."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    cells = column.cast(pa.large_binary()).to_pylist()
    return [(cell or b"").decode("utf-8", "surrogateescape") for cell in cells]


def _require_numbers(field: pa.Field, source: str) -> None:
    kind = field.type
    types = pa.types
    if (
        _is_text(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
    ):
        return
    raise UsageError(
        f"column {field.name!r} of {source}",
        "a column of numbers",
        f"one of {kind}",
        "Choose another column, or convert it.",
    )
