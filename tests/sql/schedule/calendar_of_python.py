#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second calendar, to compare the engine's with: Python's zoneinfo, and a walk over the hours of a zone instead of sums of wall times.

    calendar_of_python.py print              ZONE|EXPRESSION|SECONDS of a sample, for tests/sql/schedule/the_calendar_agrees_with_another_one.sql
    calendar_of_python.py compare [--same] [--zones N] [--expressions N] [--seed N] [--from YEAR] [--to YEAR]
                                   random expressions in all zones of the server (or N of them), by psql; prints what differs by zone, exits 1

Both calendars read zone files. Debian's PostgreSQL reads those of the system, as Python does. Another server has its own; with --same Python reads
these, too, and the differences vanish.
"""
import argparse
import collections
import datetime
import os
import random
import subprocess
import sys
import zoneinfo

UTC = datetime.timezone.utc
MINUTE = datetime.timedelta(minutes=1)
HOUR = datetime.timedelta(hours=1)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()

ZONES = """Europe/Berlin America/New_York Australia/Lord_Howe Africa/Cairo Europe/Dublin America/Santiago Africa/Casablanca America/Nuuk
    Asia/Kathmandu Antarctica/Troll""".split()
EXPRESSIONS = """30 2 * * *;0 2 * * *;15 1,2,3 * * *;*/20 * * * *;0 */2 * * *;30 0 * * *;30 23 * * *;0 0 1 * *;45 1 * * 0;5 0-4 * * *;0 12 13 * 5;
    10,40 2 * mar,oct sun;0 5 L * *;20 0,23 * * fri-sun;59 22 15,L */2 *""".split(";")
SPANS = [("2026-03-01", "2026-05-01"), ("2026-09-01", "2026-11-15")]


def numbers(text, low, high, names=()):
    """The numbers of a field."""
    found = set()
    for item in text.lower().split(","):
        item, _, step = item.partition("/")
        first, _, last = item.partition("-")
        if first == "*":
            first, last = low, high
        else:
            first = names.index(first) + low if first in names else int(first)
            last = (names.index(last) + low if last in names else int(last)) if last else high if step else first
            if high == 7 and last == 0 < first:
                last = 7
        found |= set(range(first, last + 1, int(step or 1)))
    return found


class Expression:
    def __init__(self, text):
        minute, hour, day, month, weekday = text.split()
        self.minutes = numbers(minute, 0, 59)
        self.hours = numbers(hour, 0, 23)
        days = [item for item in day.split(",") if item.lower() != "l"]
        self.last = len(days) < len(day.split(","))
        self.days = numbers(",".join(days), 1, 31) if days else set()
        self.months = numbers(month, 1, 12, MONTHS)
        self.weekdays = {n % 7 for n in numbers(weekday, 0, 7, WEEKDAYS)}
        self.either = day[0] != "*" and weekday[0] != "*"
        self.open = "*" in hour or "-" in hour
        self.known = {}

    def has_day(self, day):
        if day not in self.known:
            by_date = day.day in self.days or self.last and (day + datetime.timedelta(days=1)).day == 1
            by_weekday = day.isoweekday() % 7 in self.weekdays
            self.known[day] = day.month in self.months and ((by_date or by_weekday) if self.either else (by_date and by_weekday))
        return self.known[day]

    def has(self, wall):
        return wall.minute in self.minutes and wall.hour in self.hours and self.has_day(wall.date())


def hours_of(zone, start, end):
    """Yields for each hour its begin, the offset in the minute before it, and the offset in its last minute."""
    zone = zoneinfo.ZoneInfo(zone)
    offset = (start - MINUTE).astimezone(zone).utcoffset()
    while start < end:
        later = (start + HOUR - MINUTE).astimezone(zone).utcoffset()
        yield start, offset, later
        start += HOUR
        offset = later


def firings(expressions, zone, start, end):
    """{expression's text: set of seconds} within [start, end), which are full hours, by one walk."""
    assert start.minute == end.minute == 0
    found = {text: set() for text in expressions}
    parsed = {text: Expression(text) for text in expressions}
    highest = datetime.datetime.min  # The latest wall time so far: one that is not after it comes for the second time.
    tz = zoneinfo.ZoneInfo(zone)
    for instant, offset, later in hours_of(zone, start - 48 * HOUR, end):
        naive = instant.replace(tzinfo=None)
        if offset == later:
            shift = offset // MINUTE
            for text, expression in parsed.items():
                for minute in expression.minutes:
                    at = (minute - shift) % 60
                    wall = naive + at * MINUTE + offset
                    if expression.has(wall) and (expression.open or wall > highest):
                        found[text].add(instant + at * MINUTE)
            highest = max(highest, naive + 59 * MINUTE + offset)
            continue
        before = naive - MINUTE + offset
        for at in range(60):
            now = instant + at * MINUTE
            wall = now.astimezone(tz).replace(tzinfo=None)
            for text, expression in parsed.items():
                missing = before + MINUTE
                while missing < wall and not expression.open:
                    # The clock jumps over this wall time: it counts as much later as the clock jumps.
                    if expression.has(missing):
                        found[text].add(now + (missing - before - MINUTE))
                    missing += MINUTE
                if expression.has(wall) and (expression.open or wall > highest):
                    found[text].add(now)
            before = wall
            highest = max(highest, wall)
    return {text: {int(at.timestamp()) for at in times if start <= at < end} for text, times in found.items()}


def random_field(rng, low, high, names=()):
    def one():
        value = rng.randint(low, min(high, 6) if high == 7 else high)
        return names[value - low] if names and rng.random() < 0.5 and value - low < len(names) else str(value)

    kind = rng.random()
    if kind < 0.25:
        return f"*/{rng.randint(2, 15)}"
    if kind < 0.45:
        first, last = sorted(rng.randint(low, high) for _ in range(2))
        return f"{first}-{last}" + (f"/{rng.randint(1, 5)}" if rng.random() < 0.5 else "")
    return ",".join(one() for _ in range(rng.randint(1, 3)))


def random_expression(rng):
    minute = ",".join(str(rng.randint(0, 59)) for _ in range(rng.randint(1, 2)))
    # Most hours are near midnight or in the night, where clocks change.
    hour = rng.choice([str(rng.choice([0, 1, 2, 3, 22, 23])), random_field(rng, 0, 23), "*"])
    day = rng.choice(["*", "*", "L", random_field(rng, 1, 31)])
    month = rng.choice(["*", "*", random_field(rng, 1, 12, MONTHS)])
    weekday = rng.choice(["*", "*", random_field(rng, 0, 7, WEEKDAYS)])
    return " ".join([minute, hour, day, month, weekday])


def psql(sql):
    done = subprocess.run(["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1"], input=sql, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout.splitlines()


def of_day(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=UTC)


def print_sample():
    rng = random.Random(int(os.environ.get("PAWL_SEED", "1")))
    mine = [text.strip() for text in EXPRESSIONS] + [random_expression(rng) for _ in range(5)]
    for zone in ZONES:
        for first, last in SPANS:
            for text, times in firings(mine, zone, of_day(first), of_day(last)).items():
                for seconds in sorted(times):
                    print(f"{zone}|{text}|{first}|{last}|{seconds}")
                print(f"{zone}|{text}|{first}|{last}|")


def compare(args):
    if args.same:
        own = psql("select setting || '/timezone' from pg_config where name = 'SHAREDIR'")[0]
        zoneinfo.reset_tzpath([own, "/usr/share/zoneinfo"])
    rng = random.Random(args.seed)
    start, end = of_day(f"{args.year_from}-01-01"), of_day(f"{args.year_to}-01-01")
    zones = psql("select name from pg_timezone_names where name ~ '^[A-Z][A-Za-z_]+/' or name = 'UTC' order by 1")
    if args.zones:
        zones = sorted(rng.sample(zones, min(args.zones, len(zones))))
    differ = collections.Counter()
    absent = []
    total = pairs = 0
    for zone in zones:
        expressions = sorted({random_expression(rng) for _ in range(args.expressions)})
        try:
            mine = firings(expressions, zone, start, end)
        except zoneinfo.ZoneInfoNotFoundError:
            absent.append(zone)
            continue
        values = ", ".join(f"('{text}')" for text in expressions)
        theirs = collections.defaultdict(set)
        for line in psql(
            f"select e.x, string_agg(extract(epoch from c.at)::bigint::text, ' ') from (values {values}) e (x) cross join lateral "
            f"pawl._cron_times(e.x, '{zone}', timestamptz '{start}' - interval '1 s', timestamptz '{end}' - interval '1 s', 10000000) c group by 1"
        ):
            text, _, times = line.partition("|")
            theirs[text] = {int(n) for n in times.split()}
        for text in expressions:
            pairs += 1
            total += len(mine[text])
            if mine[text] != theirs[text]:
                differ[zone] += 1
                odd = sorted(mine[text] ^ theirs[text])
                print(f"# {zone} {text}: {len(odd)} differ, the first at {datetime.datetime.fromtimestamp(odd[0], UTC)}", flush=True)
    print(f"# {len(zones)} zones, {pairs} pairs of zone and expression, {total} firings from {args.year_from} to {args.year_to}: {sum(differ.values())} pairs differ")
    if differ:
        print("# zones that differ: " + ", ".join(f"{zone} ({count})" for zone, count in sorted(differ.items())))
    if absent:
        print("# zones that only the server has: " + ", ".join(absent))
    return 1 if differ else 0


def main():
    parser = argparse.ArgumentParser(description="A second calendar, to compare the engine's with.")
    parser.add_argument("what", choices=["print", "compare"])
    parser.add_argument("--same", action="store_true")
    parser.add_argument("--zones", type=int, default=0)
    parser.add_argument("--expressions", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="year_from", type=int, default=2024)
    parser.add_argument("--to", dest="year_to", type=int, default=2030)
    args = parser.parse_args()
    if args.what == "print":
        print_sample()
        return 0
    return compare(args)


if __name__ == "__main__":
    sys.exit(main())
