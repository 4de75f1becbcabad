"""The images that cells of a project start from: asked for in one place, so that whoever asks means the same ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from paritygate import environments
from paritygate.config import file as config_file
from paritygate.config.file import Loaded
from paritygate.config.settings import Settings
from paritygate.docker_engine.requests import Log
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import ConfigError
from paritygate.images import access, preparing
from paritygate.images.compiled import COMPILED
from paritygate.images.layers import PrepareRequest
from paritygate.images.preparing import ImageSet
from paritygate.snapshot import survey

LOGS = Path(".paritygate", "logs")
"""Where a project's folder has the logs of what was built for it."""


def configured(project: Path, variables: Mapping[str, str]) -> PrepareRequest:
    """Ask for the images of a project as its configuration has it; raises `ConfigError` for a bad one."""
    loaded = config_file.load(project)
    check(project, loaded)
    settings = config_file.apply(loaded.settings, config_file.overrides_from_variables(variables), "the environment")
    top, directory = survey.locate(str(project), dict(variables))
    return wanted(project, Path(top), directory, settings, variables)


def check(project: Path, loaded: Loaded) -> None:
    """Make sure that the files are there that the settings of images name; raises `ConfigError`."""
    if problem := access.problem_with(loaded.settings.image.extra_ca_certs, project):
        raise ConfigError(loaded.source, (problem,))


def wanted(project: Path, top: Path, directory: str, settings: Settings, variables: Mapping[str, str]) -> PrepareRequest:
    """Ask for the images of the environments of some settings, for the project in a directory of the tree at `top`."""
    return PrepareRequest(
        root=top,
        directory=directory,
        settings=settings.image,
        environments=settings.environments,
        access=access.from_host(variables, settings.image.extra_ca_certs, project),
        logs=project / LOGS,
        running=f"{sys.version_info.major}.{sys.version_info.minor}",
        case_folding=environments.own_filesystem(settings.environments.values()),
        clocks=environments.own_clocks(settings.environments.values()),
    )


def make(connect: Callable[[], Engine], project: Path, variables: Mapping[str, str], log: Log) -> ImageSet:
    """Find or make the images of a project as its configuration has it, which is read before an engine is looked for."""
    request = configured(project, variables)
    return preparing.prepare(connect(), request, log)


def listed(images: ImageSet) -> tuple[str, ...]:
    """Say which images there are, one a line."""
    lines = [f"base image: {', '.join(images.base.tags) or images.base.identity}", f"dependencies: {images.dependencies}"]
    lines += [f"{each.what}: {images.compiled[each.kind]}" for each in COMPILED if each.kind in images.compiled]
    return (*lines, *(f"{name}: {image.tags[0]}" for name, image in images.environments.items()))
