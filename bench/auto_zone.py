"""What `auto` makes of every minute of a day, as a table: which zone, and in how many minutes none exists for the whole run."""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import UTC, datetime, timedelta

from paritygate.axes import MARGIN_SECONDS, choose_zone

MINUTES = 24 * 60
RUN_MINUTES = (1, 30, 180)


def main() -> None:
    """Print the table for a date (today without one)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", type=datetime.fromisoformat, default=datetime.now(tz=UTC))
    parser.add_argument("--other", default="UTC", help="the zone to differ from")
    arguments = parser.parse_args()
    midnight = arguments.date.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC)
    print(f"{midnight:%Y-%m-%d}, date to differ from: {arguments.other}, margin {MARGIN_SECONDS:.0f} s\n")
    for length in RUN_MINUTES:
        chosen = [choose_zone(midnight + timedelta(minutes=minute), length * 60, arguments.other) for minute in range(MINUTES)]
        whole = Counter(zone.name for zone in chosen if zone.whole)
        missing = [(minute, zone) for minute, zone in enumerate(chosen) if not zone.whole]
        found = MINUTES - len(missing)
        print(f"run of {length} min: a zone for the whole run in {found} of {MINUTES} minutes, none in {len(missing)}")
        for name, count in whole.most_common():
            first = next(minute for minute, zone in enumerate(chosen) if zone.whole and zone.name == name)
            print(f"  {name:<22} {count:>5} min, first at {first // 60:02}:{first % 60:02} UTC")
        if missing:
            longest = max(zone.wait for _, zone in missing)
            print(
                f"  none at {', '.join(_ranges([minute for minute, _ in missing]))}; the longest wait is {longest / 60:.0f} min"
            )


def _ranges(minutes: list[int]) -> list[str]:
    """Write minutes of a day as stretches."""
    begins = [minute for minute in minutes if minute - 1 not in minutes]
    ends = [minute for minute in minutes if minute + 1 not in minutes]
    return [f"{a // 60:02}:{a % 60:02}-{b // 60:02}:{b % 60:02}" for a, b in zip(begins, ends, strict=True)]


if __name__ == "__main__":
    main()
