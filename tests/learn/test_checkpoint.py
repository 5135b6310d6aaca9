"""Checkpoints: what was saved comes back to the bit, and nothing else ever does."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_np
from safetensors.numpy import save as serialise

from tidegate._core.errors import CheckpointError
from tidegate.learn import checkpoint
from tidegate.learn.checkpoint import Checkpoint, load, same_or_refuse, save

DTYPES = (
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64"
).split()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.safetensors"


@pytest.fixture
def written(path: Path) -> bytes:
    """A checkpoint as a learner's: several arrays and a header."""
    rng = np.random.default_rng(5)
    arrays = {"weights": rng.standard_normal(80).astype("f4"), "moments": rng.random((2, 40))}
    save(path, Checkpoint(arrays | {"counts": np.array([17, 16])}, {"step": 17, "note": "é\n"}))
    return path.read_bytes()


def there_and_back(path: Path, array: Any) -> Any:
    save(path, Checkpoint({"a": array}, {}))
    return load(path).arrays["a"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5,), (2, 3, 4)])
def test_every_number_comes_back_to_the_bit(dtype: str, shape: tuple[int, ...], path: Path) -> None:
    # Any bit pattern: NaN with payloads, signalling ones, negative zero, subnormals.
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    noise = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 256, size, np.uint8)
    array = np.frombuffer(noise.tobytes(), dtype).reshape(shape)
    found = there_and_back(path, array)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()


def test_payloads_of_nan_and_the_sign_of_zero_are_kept(path: Path) -> None:
    bits = np.array([0x7FF0000000000001, 0xFFF8000000000ABC, 1 << 63, 1], np.uint64)
    assert there_and_back(path, bits.view(np.float64)).view(np.uint64).tolist() == bits.tolist()


@pytest.mark.parametrize(
    "view",
    [
        np.arange(24.0).reshape(4, 6)[::2, ::-3],
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.arange(4).astype(">i4"),
        np.broadcast_to(np.float32(2.5), (3, 2)),
        np.array([[1.5]]).astype(">f8").T,
    ],
)
def test_the_order_in_memory_does_not_matter(view: Any, path: Path) -> None:
    found = there_and_back(path, view)
    assert found.shape == view.shape and found.dtype == view.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, view)


def test_what_came_back_may_be_changed(path: Path) -> None:
    found = there_and_back(path, np.zeros(3))
    found += 1
    assert load(path).arrays["a"].tolist() == [0, 0, 0]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(
    st.dictionaries(NAMES, st_np.arrays(st.sampled_from(DTYPES), st_np.array_shapes(max_dims=2))),
    st.dictionaries(st.text().filter(lambda name: name != "format"), VALUES, max_size=4),
)
def test_names_arrays_and_headers_come_back(
    tmp_path_factory: pytest.TempPathFactory, arrays: dict[str, Any], header: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    save(path, Checkpoint(arrays, header))
    found = load(path)
    assert found.header == {**header, "format": 1}
    assert found.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("array", [["x"], [None], np.zeros(2, "M8[s]"), np.zeros(1, "c16")])
def test_what_is_no_number_is_refused_before_anything_is_written(array: Any, path: Path) -> None:
    save(path, Checkpoint({"a": np.arange(2)}, {}))
    before = path.read_bytes()
    with pytest.raises(TypeError):
        save(path, Checkpoint({"a": np.asarray(array)}, {}))
    with pytest.raises(TypeError):
        save(path, Checkpoint({}, {"a": object()}))
    with pytest.raises(ValueError, match="__metadata__"):
        save(path, Checkpoint({"__metadata__": np.zeros(1)}, {}))
    assert path.read_bytes() == before


def refused_or_harmless(path: Path, content: bytes, whole: Checkpoint) -> bool:
    path.write_bytes(content)
    try:
        found = load(path)
    except CheckpointError as error:
        assert error.exit_code == 3 and str(path) in str(error)
        return True
    assert found.header == whole.header and found.arrays.keys() == whole.arrays.keys()
    assert all(found.arrays[n].tobytes() == a.tobytes() for n, a in whole.arrays.items())
    return False


def test_a_file_cut_at_any_byte_is_refused(path: Path, written: bytes) -> None:
    whole = load(path)
    for size in {*range(0, len(written), 64), *range(64), *range(len(written) - 64, len(written))}:
        assert refused_or_harmless(path, written[:size], whole), size


@pytest.mark.parametrize(
    ("said", "meant"), [("[2,40]", "[40,2]"), ('"F64"', '"I64"'), ('"moments"', '"momentz"')]
)
def test_other_shapes_types_and_names_are_refused(
    said: str, meant: str, path: Path, written: bytes
) -> None:
    altered = written.replace(said.encode(), meant.encode())
    assert altered != written
    assert refused_or_harmless(path, altered, load(path))


def test_a_longer_file_is_refused(path: Path, written: bytes) -> None:
    whole = load(path)
    for more in (b"\0", b" ", written):
        assert refused_or_harmless(path, written + more, whole)


def test_ten_thousand_flipped_bits_are_refused(path: Path, written: bytes) -> None:
    places = np.random.default_rng(2).integers(0, 8 * len(written), 10_000).tolist()
    with open(path, "r+b", buffering=0) as file:
        for place in places:
            byte = written[place // 8]
            os.pwrite(file.fileno(), bytes([byte ^ 1 << place % 8]), place // 8)
            with pytest.raises(CheckpointError):
                load(path)
            os.pwrite(file.fileno(), bytes([byte]), place // 8)
    assert load(path).header["step"] == 17


@given(st.binary(max_size=200))
def test_noise_is_refused(tmp_path_factory: pytest.TempPathFactory, noise: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.safetensors"
    for content in (noise, struct.pack("<Q", len(noise)) + noise):
        path.write_bytes(content)
        with pytest.raises(CheckpointError):
            load(path)


@pytest.mark.parametrize("length", [2**20, 10**8 - 1, 2**31, 2**62, 2**64 - 1])
def test_an_absurd_length_of_the_header_costs_no_memory(length: int, path: Path) -> None:
    path.write_bytes(struct.pack("<Q", length) + b"{" * 2_000)
    tracemalloc.start()
    with pytest.raises(CheckpointError):
        load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


@pytest.mark.parametrize("shape", [[2**40], [2**32, 2**32], [-1], [1e9], ["3"], 3])
def test_an_absurd_shape_costs_no_memory(shape: Any, path: Path) -> None:
    described = {"a": {"dtype": "F64", "shape": shape, "data_offsets": [0, 8]}}
    header = json.dumps(described).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(CheckpointError):
        load(path)


def forged(header: str) -> bytes:
    """A file whose digest is right for ``header``, whatever that is."""
    return bytes(serialise({}, {"header": header, "digest": checkpoint._digest({}, header)}))


@pytest.mark.parametrize("header", ["", "[", "3", "null", '"text"', "[1, 2]", "[" * 100_000, "NaN"])
def test_a_header_that_is_no_object_is_refused(header: str, path: Path) -> None:
    path.write_bytes(forged(header))
    with pytest.raises(CheckpointError):
        load(path)


@pytest.mark.parametrize("found", ["2", "0", '"1"', "null", '"' + "x" * 10_000 + '"'])
def test_another_format_is_refused_by_its_name(found: str, path: Path) -> None:
    path.write_bytes(forged(f'{{"format": {found}}}'))
    with pytest.raises(CheckpointError) as caught:
        load(path)
    assert caught.value.expected == "a checkpoint of format 1"
    assert caught.value.got.startswith(f"format {json.loads(found)!r}"[:80])
    assert len(str(caught.value)) < 400 + len(str(path))


def test_a_header_cannot_claim_another_format(path: Path) -> None:
    save(path, Checkpoint({}, {"format": 9}))
    assert load(path).header["format"] == 1


def test_tensors_without_our_header_are_refused(path: Path) -> None:
    for metadata in (None, {}, {"digest": "0"}, {"header": "{}"}):
        path.write_bytes(bytes(serialise({"a": np.zeros(2)}, metadata)))
        with pytest.raises(CheckpointError, match="a whole checkpoint"):
            load(path)


@pytest.mark.parametrize("place", ["none/state", "."])
def test_a_path_that_leads_nowhere_is_refused(place: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="expected a checkpoint, got"):
        load(tmp_path / place)


def test_the_same_is_not_refused(path: Path) -> None:
    expected = {"units": (8, 4), "rate": float("nan"), "cell": {"b": 1, "a": None}}
    found = json.loads(json.dumps(expected)) | {"more": 1}
    same_or_refuse(path, expected, found)


def test_what_differs_is_named(path: Path) -> None:
    expected = {"cell": "lstm", "units": 8, "seed": 1, "new": 0}
    with pytest.raises(CheckpointError) as caught:
        same_or_refuse(path, expected, {"cell": "lstm", "units": 16, "seed": 2})
    assert (caught.value.expected, caught.value.got) == ("units = 8", "units = 16")
    assert "It differs in units, seed, new;" in caught.value.help


def test_one_and_true_are_not_the_same(path: Path) -> None:
    with pytest.raises(CheckpointError):
        same_or_refuse(path, {"direct": True}, {"direct": 1})
