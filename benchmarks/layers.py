"""How fast is a layer of any cell beside torch.nn, and what does its trace cost?

Thread CPU time of one thread, medians of turns interleaved with torch.nn.LSTM (torch.nn.GRU for the
GRU) and with a cell written by hand in torch operations (LSTM, GRU; for other cells the eager form
of their equations), float32. ``training`` is forward and backward with the gradient by the input.
Peak memory is what one call adds to the resident memory of a process of its own, in MiB. With
``--avx2`` both sides make code for AVX2 only, on a processor that has more.

    python benchmarks/layers.py [--cells lstm,gru] [--sizes 0,1] [--seconds 2] [--avx2] [--json]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn

from tidegate import cells
from tidegate.kernels.batch import call as batch_call
from tidegate.kernels.code.cpu import host_with_avx2
from tidegate.layers import GRU, LSTM, Recurrent

SIZES = [
    (100, 1, 16, 16), (100, 32, 64, 64), (100, 32, 128, 256), (500, 8, 128, 128),
    (1000, 64, 32, 32), (50, 64, 512, 512),
]  # fmt: skip
WHAT = ("forward", "training")
TURN = 0.005  # seconds
AVX2 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
}
Run = Callable[[], object]


class HandWritten(nn.Module):
    """What people write: the product with the input at once, then a loop of torch operations."""

    def __init__(self, like: nn.LSTM | nn.GRU) -> None:
        super().__init__()
        self.like = like

    def forward(self, x: Tensor) -> tuple[Tensor]:
        w = self.like
        from_input = torch.nn.functional.linear(x, w.weight_ih_l0, w.bias_ih_l0)
        h = c = x.new_zeros(x.shape[1], w.hidden_size)
        outputs = []
        for z in from_input.unbind():
            u = torch.nn.functional.linear(h, w.weight_hh_l0, w.bias_hh_l0)
            h, c = lstm_step(z + u, c) if isinstance(w, nn.LSTM) else (gru_step(z, u, h), c)
            outputs.append(h)
        return (torch.stack(outputs),)


def lstm_step(z: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = z.chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_step(z: Tensor, u: Tensor, h: Tensor) -> Tensor:
    (xr, xz, xn), (hr, hz, hn) = z.chunk(3, dim=1), u.chunk(3, dim=1)
    n = (xn + (xr + hr).sigmoid() * hn).tanh()
    return torch.lerp(n, h, (xz + hz).sigmoid())


@contextmanager
def eager_form():
    os.environ["TIDEGATE_REFERENCE"] = "1"
    try:
        yield
    finally:
        del os.environ["TIDEGATE_REFERENCE"]


def ours(cell: str, inputs: int, units: int) -> Recurrent:
    drop_in = {"lstm": LSTM, "gru": GRU}
    if cell in drop_in:
        return drop_in[cell](inputs, units)
    return Recurrent(cell, inputs, units)


def theirs(cell: str, inputs: int, units: int) -> nn.LSTM | nn.GRU:
    return (nn.GRU if cell == "gru" else nn.LSTM)(inputs, units)


def job(module: nn.Module, what: str, size: tuple[int, ...], trace: bool = False) -> Run:
    steps, rows, inputs, _ = size
    x = torch.randn(steps, rows, inputs, requires_grad=True)
    options = {"trace": True} if trace else {}

    def forward() -> object:
        with torch.no_grad():
            return module(x, **options)

    def training() -> object:
        output = module(x, **options)[0]
        output.backward(torch.ones_like(output))
        return x.grad

    return {"forward": forward, "training": training}[what]


def eager(cell: str, size: tuple[int, ...], what: str) -> Run:
    *_, inputs, units = size
    if cell in ("lstm", "gru"):
        return job(HandWritten(theirs(cell, inputs, units)), what, size)
    run = job(ours(cell, inputs, units), what, size)

    def slow() -> object:
        with eager_form():
            return run()

    return slow


def interleaved(runs: Mapping[str, Run], seconds: float) -> dict[str, float]:
    """Median thread CPU time in ms of every run, in turn.

    A turn is one call that is not timed, for caches hold what ran before, then calls for ``TURN``.
    """
    found: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()  # what is made once
    calls = {name: max(1, round(TURN / timed(run, 2))) for name, run in runs.items()}
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(next(iter(found.values()))) < 5:
        for name, run in runs.items():
            run()
            found[name].append(timed(run, calls[name]) * 1e3)
    return {name: median(times) for name, times in found.items()}


def timed(run: Run, calls: int) -> float:
    """Seconds of a call."""
    began = time.thread_time()
    for _ in range(calls):
        run()
    return (time.thread_time() - began) / calls


def resident(field: str) -> float:
    """VmRSS or VmHWM of this process in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no {field}")


def peak_of(run: Run) -> float:
    """What one run adds to the resident memory at its peak, in MiB."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    kept = run()
    peak = resident("VmHWM") - before
    del kept
    return max(peak, 0.0)


def peaks(cell: str, size: tuple[int, ...], what: str) -> dict[str, float]:
    """In this process: ours without and with trace, and torch's, each once warmed up small."""
    small = (2, *size[1:])
    *_, inputs, units = size
    found = {}
    for name, module, trace in (
        ("torch", theirs(cell, inputs, units), False),
        ("plain", ours(cell, inputs, units), False),
        ("trace", ours(cell, inputs, units), True),
    ):
        job(module, what, small, trace)()
        found[name] = peak_of(job(module, what, size, trace))
    return found


def measured_peaks(cell: str, size: tuple[int, ...], what: str) -> dict[str, float]:
    """The same in a process of its own; nothing where the system does not say."""
    order = [sys.executable, __file__, "--peaks", json.dumps([cell, size, what])]
    done = subprocess.run(order, capture_output=True, text=True, check=False)
    return dict(json.loads(done.stdout)) if done.returncode == 0 else {}


def rows(cell: str, size: tuple[int, ...], what: str, seconds: float) -> list[dict[str, object]]:
    *_, inputs, units = size
    layer = ours(cell, inputs, units)
    times = interleaved(
        {
            "torch": job(theirs(cell, inputs, units), what, size),
            "plain": job(layer, what, size),
            "trace": job(layer, what, size, trace=True),
        },
        seconds,
    )
    slow = interleaved({"eager": eager(cell, size, what)}, seconds / 4)
    peak = measured_peaks(cell, size, what)
    return [
        {
            "size": list(size), "cell": cell, "what": what, "trace": name == "trace",
            "ms": times[name], "torch_ms": times["torch"], "eager_ms": slow["eager"],
            "peak_mib": peak.get(name), "torch_peak_mib": peak.get("torch"),
        }
        for name in ("plain", "trace")
    ]  # fmt: skip


def allocator() -> str:
    """The allocator by name, and what of it was set away from its defaults."""
    tuned = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("MALLOC_")]
    preload = os.environ.get("LD_PRELOAD", "")
    return " ".join([preload or " ".join(platform.libc_ver()) or "default", *tuned])


def only_avx2() -> bool:
    """Whether torch was told at its start to do without what came after AVX2."""
    return all(os.environ.get(name) == value for name, value in AVX2.items())


def restart_with_avx2() -> None:
    """This program anew, as torch reads its environment once."""
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | AVX2)


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((s.split(":")[1].strip() for s in lines if s.startswith("model name")), "unknown")


def shown(row: Mapping[str, object]) -> str:
    ms, torch_ms, eager_ms = (float(row[k]) for k in ("ms", "torch_ms", "eager_ms"))  # type: ignore[arg-type]
    peak = "" if row["peak_mib"] is None else f"{row['peak_mib']:7.1f} {row['torch_peak_mib']:7.1f}"
    size = ",".join(map(str, row["size"]))  # type: ignore[call-overload]
    return (
        f"{row['cell']:16} {size:16} {row['what']:8} {'trace' if row['trace'] else '':5} "
        f"{ms:9.3f} ms  torch {torch_ms / ms:6.2f}x  eager {eager_ms / ms:6.2f}x  {peak}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", default=",".join(cells.names()))
    parser.add_argument("--sizes", default=",".join(map(str, range(len(SIZES)))))
    parser.add_argument("--seconds", type=float, default=2.0, help="per cell, size and kind")
    parser.add_argument("--avx2", action="store_true", help="no vectors beyond those of AVX2")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peaks", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.avx2 and not only_avx2():
        restart_with_avx2()
    if only_avx2():
        batch_call.host = host_with_avx2
    torch.set_num_threads(1)
    if given.peaks:
        cell, size, what = json.loads(given.peaks)
        print(json.dumps(peaks(cell, tuple(size), what)))
        return
    head = {
        "cpu": processor(), "vectors": f"{batch_call.host().vector_bits} bits",
        "allocator": allocator(), "torch": torch.__version__,
    }  # fmt: skip
    if not given.json:
        print(*(f"{name}: {value}" for name, value in head.items()), sep="\n")
    found = []
    for cell in given.cells.split(","):
        for number in map(int, given.sizes.split(",")):
            for what in WHAT:
                new = rows(cell, SIZES[number], what, given.seconds)
                found += new
                if not given.json:
                    print(*map(shown, new), sep="\n", flush=True)
    if given.json:
        print(json.dumps({**head, "rows": found}))


if __name__ == "__main__":
    main()
