"""Hazards: places in the source that make a test's outcome depend on the machine, the moment or the order."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from paritygate.outcomes.words import Axis


class HazardKind(StrEnum):
    """What is wrong at a place; the words stand in suppressions, reports and documents."""

    NAIVE_CLOCK = "naive-clock"
    LOCAL_TIME = "local-time"
    CLOCK_IN_ASSERTION = "clock-in-assertion"
    TIMED_ASSERTION = "timed-assertion"
    READ_AT_IMPORT = "read-at-import"
    LOCALE_FORMAT = "locale-format"
    LOCALE_ORDER = "locale-order"
    LOCALE_ENCODING = "locale-encoding"
    FOLDER_ORDER = "folder-order"
    SET_ORDER = "set-order"
    FIXED_PORT = "fixed-port"
    FIXED_TEMPORARY_PATH = "fixed-temporary-path"
    VARIABLE_WRITE = "variable-write"
    NAME_CASE = "name-case"
    UNTRACKED_FILE = "untracked-file"
    SUPPRESSION = "suppression"


class Hazard(msgspec.Struct, frozen=True, kw_only=True):
    """One place.

    `file` is relative to the project, `line` and `column` count from 1; `what` is said of this place, `why` and `instead` of
    its kind. `axes` are those that may bring it to light. `function` is the name of the one that holds it, empty for the module.
    `sure` are those that can be told from the source alone; for the others it takes somebody who knows the project.
    """

    kind: HazardKind
    file: str
    line: int
    column: int
    what: str
    why: str
    instead: str
    axes: tuple[Axis, ...] = ()
    function: str = ""
    sure: bool = True
