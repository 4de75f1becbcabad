"""Builds an image by a recipe of ours: the whole log goes into a file, and a failure is said in the recipe's own words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from paritygate.docker_engine.requests import BuildRequest, ImageRecord
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import BuildError
from paritygate.images import advice
from paritygate.images.transcripts import Transcript


class Logs(msgspec.Struct, frozen=True, kw_only=True):
    """The folder for logs, and what must not be seen in them."""

    folder: Path
    secrets: tuple[str, ...] = ()


class Failed(msgspec.Struct, frozen=True):
    """Why a build failed by its recipe's own words, what that advises (both may be empty), and the end of the log."""

    reason: str
    hint: str
    tail: str


def build(engine: Engine, request: BuildRequest, logs: Logs, advise: Callable[[Failed], str]) -> ImageRecord:
    """Build; raises `BuildError` with the reason, and with what `advise` makes of it where the engine itself has no advice."""
    path = logs.folder / f"{request.tag.rpartition('/')[2].replace(':', '-')}.log"
    with Transcript(path, logs.secrets) as transcript:
        try:
            return engine.build(request, transcript.write)
        except BuildError as error:
            said = advice.own_words(error.tail)
            title = said.reason or error.message.splitlines()[0]
            hint = error.hint or advise(Failed(said.reason, said.hint, error.tail))
            raise BuildError(title, error.tail, str(path), hint) from error
