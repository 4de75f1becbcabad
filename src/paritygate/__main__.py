"""The way in, for `python -m paritygate` and for the installed script alike.

It imports late, as nothing else may: the program with its libraries takes a second to load, in which a signal or a broken
installation must end in our way and with a code of ours. Python's own would be 1, which says that tests are red.
"""

from __future__ import annotations

import importlib
import sys

FAULT = 70


def main() -> None:
    """Take the process in hand, load the program, and run it."""
    try:
        importlib.import_module("paritygate.process").take_in_hand()
        program = importlib.import_module("paritygate.cli.main")
    except Exception as error:  # noqa: BLE001  # whatever a library may raise while it is loaded
        sys.excepthook(*sys.exc_info())
        if sys.stderr is not None:
            sys.stderr.write(f"paritygate: it could not be loaded: {error!r}\n")
            sys.stderr.write("hint: install it anew: `pip install --force-reinstall paritygate`\n")
        sys.exit(FAULT)
    program.main()


if __name__ == "__main__":
    main()
