"""How many bits does the forecaster of categories take a row, and what does a row cost?

Two streams: the symbols of the embedded Reber grammar, whose memory reaches back further than two
symbols, and the letters of this repository's licence. Beside the mixture stand its own experts, and
bzip2 on the same letters, which may look at all of them at once.

    python benchmarks/categories.py            # a table; some ten seconds
    python benchmarks/categories.py --json out.json
"""

from __future__ import annotations

import argparse
import bz2
import json
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from tidegate.forecast import CategoryRun
from tidegate.streams import Row, StopAtBadRow
from tidegate.tasks import Reber

GRAMMAR, WARMUP = 10_000, 200
LIMITS = {"grammar": 64, "letters": 128}
UNTIL = 3  #: rows of a key whose memory is measured
NOTHING = np.zeros(0)


def main() -> int:
    """Print the table, and write the rows where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", metavar="FILE", help="where rows go")
    options = parser.parse_args()
    licence = (Path(__file__).parent.parent / "LICENSE").read_text(encoding="utf-8")
    streams = {
        "grammar": [Reber.alphabet[s] for s in Reber().stream(seed=1).block(GRAMMAR).symbols],
        "letters": list(licence),
    }
    rows = [_measured(name, symbols) for name, symbols in streams.items()]
    for row in rows:
        print("  ".join(f"{what} {value:,.3f}" if isinstance(value, float) else f"{what} {value}"
                        for what, value in row.items()), flush=True)  # fmt: skip
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
    return 0


def _measured(name: str, symbols: list[str]) -> dict[str, Any]:
    run, spent = _run(LIMITS[name], symbols)
    bits = run.summary()["bits"]
    packed = 8 * len(bz2.compress("".join(symbols).encode())) / len(symbols)
    small, _ = _run(LIMITS[name], symbols[:UNTIL])
    size = sum(array.nbytes for array in small.state().values())
    return {
        "stream": name, "rows": len(symbols), **bits, "bzip2": packed,
        "us a row": 1e6 * spent / len(symbols), "MB a key": size / 1e6,
    }  # fmt: skip


def _run(limit: int, symbols: list[str]) -> tuple[CategoryRun, float]:
    """The run over them, and the processor time that it took."""
    run = CategoryRun("benchmark", StopAtBadRow(), limit=limit, warmup=WARMUP)
    run.step(Row(0, None, NOTHING))  # so that what is compiled is compiled
    start = process_time()
    for number, symbol in enumerate(symbols, 1):
        run.step(Row(number, None, NOTHING, category=symbol))
    return run, process_time() - start


if __name__ == "__main__":
    sys.exit(main())
