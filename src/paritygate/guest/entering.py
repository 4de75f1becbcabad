"""Enter a cell as its tests would, and run a command there instead of them: filesystem, zone, user and variables are theirs.

`entering.py SPECIFICATION COMMAND...`, as root: of the specification (docs/cell-protocol.md) it takes what concerns the tests'
environment. It writes no events. The exit status is the command's, 69 where the cell cannot be made.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
from typing import Any, Dict, List

UNAVAILABLE = 69


def beside(name: str) -> Any:
    """Load a module from this file's own folder, which `-I` leaves out of the search."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        return importlib.import_module(name)
    finally:
        del sys.path[0]


launcher: Any = beside("launcher")


def set_zone(zone: str) -> None:
    """Tell the zone to programs that do not look at `TZ`."""
    with contextlib.suppress(OSError):
        if zone:
            os.unlink("/etc/localtime")
            os.symlink("/usr/share/zoneinfo/" + zone, "/etc/localtime")
            with open("/etc/timezone", "w", encoding="ascii") as stream:
                stream.write(zone + "\n")


def hand_over_terminal(specification: Dict[str, Any]) -> None:
    """Let the tests' user open the terminal anew, as pagers and editors do."""
    user = specification.get("user")
    with contextlib.suppress(OSError):
        if user and os.isatty(0):
            os.fchown(0, user["uid"], user["gid"])


def run(specification: Dict[str, Any], command: List[str]) -> int:
    """Make the cell and run the command in it to its end; say its exit status."""
    # What the terminal sends reaches the command as well, and is its affair. A handler, since ignoring would be inherited.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGQUIT, lambda *_: None)
    set_zone(str(specification["expect"].get("timezone") or ""))
    try:
        files = launcher.making.make(specification.get("filesystem"), specification["workspace"])
    except (launcher.mounting.UnavailableError, OSError) as error:
        sys.stderr.write("paritygate: the cell's filesystem cannot be made: %s\n" % error)
        return UNAVAILABLE
    launcher.use_zone(launcher.tests_environment(specification))
    try:
        launcher.clocks.Clock(specification.get("clock")).give(specification["environment"])
    except launcher.clocks.UnmovableError as error:
        files.end()
        sys.stderr.write("paritygate: the clock could not be moved: %s\n" % error)
        return UNAVAILABLE
    hand_over_terminal(specification)
    try:
        process = subprocess.Popen(
            command,
            env=launcher.tests_environment(specification),
            preexec_fn=launcher.preparation(specification),  # noqa: PLW1509 - the other threads only ever sleep
        )
        status = process.wait()
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write("paritygate: `%s` cannot be started in the cell: %s\n" % (command[0], error))
        return UNAVAILABLE
    finally:
        files.end()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(run(json.loads(sys.argv[1]), sys.argv[2:]))
