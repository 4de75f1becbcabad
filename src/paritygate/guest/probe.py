"""Measure the environment of the tests, as the tests' user and with the tests' variables.

It changes nothing but for a few files in three folders that it removes again, judges nothing, and imports nothing of paritygate.
Run as `probe.py ARGUMENTS OUT`: JSON {"workspace", "sentinel" (a path), "timezone" (the one that was asked for), "clock" (whether
to look at it)} and a descriptor to which it writes JSON {"probe": the object of `outcomes.cells.Probe`, "checks": what only the
launcher needs}.
"""

from __future__ import annotations

import datetime as dt
import functools
import importlib.metadata
import importlib.util
import json
import locale
import os
import re
import resource
import shutil
import sys
import tempfile
import time
import unicodedata
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

try:
    from zoneinfo import ZoneInfo
except ImportError:  # CPython 3.8

    def ZoneInfo(key: str) -> Any:  # type: ignore[no-redef]  # noqa: N802
        """Know no zone."""
        raise LookupError(key)


ZONES = "/usr/share/zoneinfo"
UNLIMITED = 1 << 60  # cgroup v1 says "no limit" with a number near 2**63
NAMES = ["c", "a", "f", "b", "e", "d"]  # neither sorted nor the other way round
NAME = "Stra\u00dfe-\u00c4"
LETTERS = ["a", "B", "\u00e4", "Z", "_"]


def read(path: str) -> str:
    """Read a small file, empty where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""


def offset_of(when: float) -> int:
    """Say the local offset at one moment, in seconds east of UTC."""
    return time.localtime(when).tm_gmtoff


def two_dates() -> Tuple[float, float]:
    """Say 15 January and 15 July of this year, noon UTC, as timestamps."""
    year = time.gmtime().tm_year
    january, july = (dt.datetime(year, month, 15, 12, tzinfo=dt.timezone.utc).timestamp() for month in (1, 7))
    return january, july


def zone_name() -> str:
    """Say which zone the process was given: TZ, else what /etc/localtime points to."""
    given = os.environ.get("TZ")
    if given:
        return given
    target = os.path.realpath("/etc/localtime")
    return target[len(ZONES) + 1 :] if target.startswith(ZONES + "/") else read("/etc/timezone").strip() or time.tzname[0]


def tzdata_version() -> str:
    """Say the version of the zones that the C library uses."""
    first = read(ZONES + "/tzdata.zi")[:80].splitlines()
    if first and first[0].startswith("# version "):
        return first[0][len("# version ") :].strip()
    return read(ZONES + "/+VERSION").strip()


def wheel_tzdata() -> str:
    """Say the version of the zones that only Python's zoneinfo uses, empty where the wheel is not installed."""
    try:
        return "wheel " + importlib.metadata.version("tzdata")
    except importlib.metadata.PackageNotFoundError:
        return ""


def offsets_by_file(name: str) -> Optional[List[int]]:
    """Say the two offsets by the zone's own file, None where there is no such file. Changes the zone of this process."""
    path = os.path.join(os.environ.get("TZDIR", ZONES), name)
    if not name or not os.path.isfile(path):
        return [0, 0] if name == "UTC" else None
    os.environ["TZ"] = ":" + path
    time.tzset()
    return [offset_of(when) for when in two_dates()]


def offsets_by_zoneinfo(name: str) -> Optional[List[int]]:
    """Say the two offsets by Python's zoneinfo, None where it does not know the zone."""
    try:
        zone = ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None
    moments = [dt.datetime.fromtimestamp(when, tz=zone).utcoffset() for when in two_dates()]
    return [int(moment.total_seconds()) for moment in moments if moment is not None]


def use_locale() -> Tuple[str, str]:
    """Take over the locale of the environment; say its name and, where that fails, why."""
    try:
        return locale.setlocale(locale.LC_ALL, ""), ""
    except locale.Error as error:
        wanted = os.environ.get("LC_ALL") or os.environ.get("LANG") or ""
        return "unsupported: " + wanted, str(error)


def collation() -> List[str]:
    """Say how the locale sorts a few letters."""
    try:
        return sorted(LETTERS, key=functools.cmp_to_key(locale.strcoll))
    except OSError as error:
        return ["failed: " + str(error)]


def case_of_existing(folder: str) -> Optional[bool]:
    """Say whether a folder that cannot be written tells case apart, by a name in it; None where none has letters."""
    for name in sorted(os.listdir(folder)):
        other = name.swapcase()
        if other != name:
            path = os.path.join(folder, other)
            return not (os.path.lexists(path) and os.path.samestat(os.lstat(path), os.lstat(os.path.join(folder, name))))
    return None


def tells_case_apart(folder: str) -> Optional[bool]:
    """Say whether a folder tells case apart: make a file, look for it by another case, remove it."""
    name = "pArity-probe-%d" % os.getpid()
    path = os.path.join(folder, name)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        try:
            return case_of_existing(folder)
        except OSError:
            return None
    try:
        return not os.path.exists(os.path.join(folder, name.upper()))
    finally:
        os.unlink(path)


def case_habits(folder: str) -> Dict[str, bool]:
    """Say what a folder makes of names that differ by case alone, empty where nothing can be created in it.

    `folds`: one file has all spellings, with an accent in either form too. `keeps`: names are listed as they were created.
    `fresh`: nothing is remembered of a spelling that was missed or has gone with another. `renames_case`: that can be done.
    """
    try:
        place = tempfile.mkdtemp(prefix="pArity-probe-", dir=folder)
    except OSError:
        return {}
    try:
        return {
            "folds": all(found_by_another_spelling(place)),
            "keeps": NAME.encode("utf-8") in os.listdir(os.fsencode(place)),
            "fresh": forgets(place),
            "renames_case": all(renames_case(place, make) for make in (make_file, os.mkdir)),
        }
    finally:
        shutil.rmtree(place, ignore_errors=True)


def listing(folder: str) -> List[str]:
    """Say in which order a folder lists names that are new, empty where nothing can be created in it."""
    try:
        place = tempfile.mkdtemp(prefix="pArity-probe-", dir=folder)
    except OSError:
        return []
    try:
        for name in NAMES:
            make_file(os.path.join(place, name))
        return os.listdir(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def make_file(path: Any) -> None:
    """Make a file that is not there yet."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def found_by_another_spelling(place: str) -> Iterator[bool]:
    """Look for a file by its name in other cases, and with its accent apart."""
    folder = os.fsencode(place)  # names are bytes to the system, whatever this process takes for its encoding
    make_file(os.path.join(folder, NAME.encode("utf-8")))
    for other in ("STRASSE-\u00c4", "stra\u00dfe-\u00e4", unicodedata.normalize("NFD", NAME)):
        yield os.path.exists(os.path.join(folder, other.encode("utf-8")))


def forgets(place: str) -> bool:
    """Say whether a spelling is found once there is a name for it, and no longer when that has gone by another."""
    small, capital = os.path.join(place, "fresh"), os.path.join(place, "FRESH")
    if os.path.exists(small):
        return False
    make_file(capital)
    if not os.path.exists(small):
        return False
    os.unlink(small)
    return not os.path.exists(capital)


def renames_case(place: str, make: Callable[[str], Any]) -> bool:
    """Say whether a rename that changes nothing but case does so."""
    old = "renamed-" + getattr(make, "__name__", "")
    make(os.path.join(place, old))
    os.rename(os.path.join(place, old), os.path.join(place, old.upper()))
    return old.upper() in os.listdir(place)


def group_folders(controller: str) -> Iterator[str]:
    """Yield this process's control group for a controller and those above it, innermost first, as folders.

    In a container the path of /proc/self/cgroup may be the host's; then only the top, which is the container's own, exists.
    """
    for line in read("/proc/self/cgroup").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            tops = ["/sys/fs/cgroup"]
        elif controller in controllers.split(","):
            tops = ["/sys/fs/cgroup/" + controllers, "/sys/fs/cgroup/" + controller]
        else:
            continue
        for top in tops:
            inner = path.rstrip("/")
            while inner:
                yield top + inner
                inner = inner.rpartition("/")[0]
            yield top


def cpus() -> float:
    """Say how many processors the scheduler lets this process use: affinity and the smallest quota."""
    affinity = getattr(os, "sched_getaffinity", None)
    found = [float(len(affinity(0)) if affinity else os.cpu_count() or 1)]
    for folder in group_folders("cpu"):
        parts = read(folder + "/cpu.max").split()
        if not parts:
            parts = [read(folder + "/cpu.cfs_quota_us").strip(), read(folder + "/cpu.cfs_period_us").strip()]
        quota, period = parts
        if quota.isdigit() and period.isdigit() and int(period):
            found.append(int(quota) / int(period))
    return min(found)


def memory() -> Tuple[int, str]:
    """Say the memory limit in bytes, 0 for none, and the folder in which the kernel counts."""
    limits, counting = [], ""
    for folder in group_folders("memory"):
        text = (read(folder + "/memory.max") or read(folder + "/memory.limit_in_bytes")).strip()
        if text.isdigit() and int(text) < UNLIMITED:
            limits.append(int(text))
        if not counting and (os.path.exists(folder + "/memory.events") or os.path.exists(folder + "/memory.oom_control")):
            counting = folder
    return min(limits, default=0), counting


def status_fields() -> Dict[str, str]:
    """Read what the kernel says of this process."""
    lines = (line.partition(":") for line in read("/proc/self/status").splitlines())
    return {key: value.strip() for key, _, value in lines}


def limits() -> Dict[str, Tuple[int, int]]:
    """Say every resource limit, soft and hard; -1 is none."""
    names = sorted(name for name in dir(resource) if name.startswith("RLIMIT_") and name != "RLIMIT_OFILE")
    return {name[len("RLIMIT_") :].lower(): resource.getrlimit(getattr(resource, name)) for name in names}


def filesystem_of(folder: str) -> str:
    """Say the type of the filesystem that holds a folder, by the longest mount point above it."""
    best, kind = "", ""
    place = os.path.realpath(folder)
    for line in read("/proc/self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), left.split()[4])
        if (place == point or place.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, right.split()[0]
    return kind


def name_and_version(distribution: importlib.metadata.Distribution) -> Tuple[str, str]:
    """Read two header fields; parsing the whole message, with its description, takes far longer."""
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or distribution.read_text("") or ""
    head = re.split(r"\r?\n\r?\n", text, maxsplit=1)[0]
    fields = dict(re.findall(r"^(Name|Version):[ \t]*(\S+)", head, flags=re.MULTILINE))
    return fields.get("Name", ""), fields.get("Version", "")


def distributions() -> List[Dict[str, str]]:
    """List what is installed, names as PEP 503 writes them; of two with one name the one that Python would import."""
    found: Dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        name, version = name_and_version(distribution)
        if name:
            found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return [{"name": name, "version": version} for name, version in sorted(found.items())]


def libc() -> str:
    """Say the C library and its version, empty where it does not say."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError, AttributeError):
        return ""


def current_umask() -> int:
    """Read the umask, for which there is no call that leaves it alone."""
    value = os.umask(0o077)
    os.umask(value)
    return value


def about_python() -> Dict[str, Any]:
    """Say what runs the tests and what it can import."""
    system = os.uname()
    return {
        "python": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "platform": "%s-%s-%s" % (system.sysname, system.release, system.machine),
        "libc": libc(),
        "hash_of_string": hash("paritygate"),
        "hash_seed": os.environ.get("PYTHONHASHSEED", ""),
        "utf8_mode": bool(sys.flags.utf8_mode),
        "hostname": system.nodename,
        "variables": sorted(name for name in os.environ if not name.startswith("PARITYGATE_")),
        "distributions": distributions(),
    }


def about_time() -> Dict[str, Any]:
    """Say what the process takes for local time."""
    january, july = two_dates()
    now = time.time()
    return {
        "tzdata": tzdata_version() or wheel_tzdata(),
        "timezone": zone_name(),
        "utcoffset_january": offset_of(january),
        "utcoffset_july": offset_of(july),
        "utcoffset_now": offset_of(now),
        "local_date": time.strftime("%Y-%m-%d", time.localtime(now)),
        "local_time": time.strftime("%H:%M", time.localtime(now)),
        "utc_date": time.strftime("%Y-%m-%d", time.gmtime(now)),
    }


def about_process() -> Dict[str, Any]:
    """Say as whom the process runs and within which bounds."""
    fields = status_fields()
    return {
        "cpus": cpus(),
        "memory": memory()[0],
        "uid": os.getuid(),
        "gid": os.getgid(),
        "home": os.path.expanduser("~"),
        "umask": current_umask(),
        "capabilities": " ".join("%s=%s" % (key, fields.get(key, "")) for key in ("CapEff", "CapBnd", "CapPrm", "CapInh")),
        "no_new_privileges": fields.get("NoNewPrivs") == "1",
        "limits": limits(),
    }


def clock(*, asked: bool) -> Dict[str, Any]:
    """Say what several programs take for the time, where that is asked; nothing else needs it, and it takes a moment."""
    if not asked:
        return {}
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)  # PYTHONSAFEPATH leaves it out
    try:
        return dict(importlib.import_module("clock_probe").measure())
    finally:
        sys.path.remove(here)


def measure(arguments: Dict[str, Any]) -> Dict[str, Any]:
    """Measure everything; the check of the zone comes last because it changes the zone."""
    locale_name, locale_error = use_locale()
    folders = {"workspace": arguments["workspace"], "tmp": tempfile.gettempdir(), "home": os.path.expanduser("~")}
    cases = {name: tells_case_apart(folder) for name, folder in folders.items()}
    probe = {
        "locale": locale_name,
        "encoding": locale.getpreferredencoding(do_setlocale=False),
        "collation": collation(),
        "decimal_point": str(locale.localeconv()["decimal_point"]),
        "case_sensitive": [value is not False for value in cases.values()],
        "case": {name: case_habits(folder) for name, folder in folders.items()},
        "filesystems": {name: filesystem_of(folder) for name, folder in folders.items()},
        "sentinel": read(arguments["sentinel"]).strip(),
        "listing": listing(arguments["workspace"]),
    }
    for part in (about_python(), about_time(), about_process()):
        probe.update(part)
    checks = {
        "locale_error": locale_error,
        "case": cases,
        "folders": folders,
        "memory_folder": memory()[1],
        "pytest": importlib.util.find_spec("pytest") is not None,
        "zoneinfo": offsets_by_zoneinfo(arguments["timezone"]),
        "clock": clock(asked=bool(arguments.get("clock"))),
        "zone_file": offsets_by_file(arguments["timezone"]),
    }
    return {"probe": probe, "checks": checks}


def main(arguments: str, out: str) -> None:
    """Write the measurement as one JSON document to a descriptor."""
    with os.fdopen(int(out), "w", encoding="ascii") as stream:
        json.dump(measure(json.loads(arguments)), stream)


if __name__ == "__main__":
    main(*sys.argv[1:])
