"""Everything that is known before anything is touched: settings with the command line laid over them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from paritygate import places, project_images, selection
from paritygate.config import file as config_file
from paritygate.config.settings import EnvironmentSettings, Settings
from paritygate.errors import UsageError
from paritygate.gate import last_time
from paritygate.gate.last_time import Last
from paritygate.gate.request import Request, World


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for the whole run.

    `report` is where the artifact goes, `estimate` for how many seconds the cells will likely run, `left_out`
    the axes that the user does not want varied, `last` what the report of the run before tells of time. `locales` are those that
    images are to have beside those of the environments; with `own_filesystem` they can make one in any case, with `clocks` they
    can move theirs. `spare` are environments without cells, whose time zone or locale holds where a place for cells has none
    that the others ask for.
    """

    project: Path
    settings: Settings
    source: str
    notes: tuple[str, ...]
    report: Path
    estimate: float
    left_out: tuple[str, ...] = ()
    last: Last = Last()
    locales: tuple[str, ...] = ()
    own_filesystem: bool = False
    clocks: bool = False
    spare: dict[str, EnvironmentSettings] = {}

    @property
    def every(self) -> dict[str, EnvironmentSettings]:
        """Give all environments, the spare ones last."""
        return self.settings.environments | self.spare


def settle(request: Request, world: World) -> Settled:
    """Read the configuration and lay variables, then the command line, over it; refuse what cannot come to an end.

    A report that is not absolute is the configuration's, and relative to the project.
    """
    loaded = config_file.load(request.project)
    project_images.check(request.project, loaded)
    settings = config_file.apply(loaded.settings, config_file.overrides_from_variables(world.variables), "the environment")
    settings = config_file.apply(settings, request.overrides, "the command line")
    check_words((*settings.selection, request.keyword, request.marker, *request.arguments))
    selection.parse(settings.selection)
    report = places.plain(request.project / settings.report)
    places.check(report)
    last = last_time.read(report)
    return Settled(
        project=request.project,
        settings=settings,
        source=loaded.source,
        notes=loaded.notes,
        report=report,
        estimate=last_time.estimate(last, settings.cell_timeout),
        left_out=request.overrides.without_axes,
        last=last,
    )


def check_words(words: Iterable[str]) -> None:
    """Refuse words that are not Unicode: neither an event nor an artifact could hold them."""
    for word in words:
        if not word.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in word):
            raise UsageError(f"{os.fsencode(word)!r} is not UTF-8", "rename the file, or select the folder that it is in")
