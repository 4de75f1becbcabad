"""The library that moves clocks: an image that holds it alone, and how an environment's image comes to hold it too."""

from __future__ import annotations

from paritygate.docker_engine.requests import ImageRecord
from paritygate.images import advice, resources
from paritygate.images.names import Kind, digest, digest_files, tag

LIBRARY = "/opt/paritygate/clock.so"
ANOTHER_BASE = "name another image with `base` under `[tool.paritygate.image]`; to do without, set no `clock` in any environment"
_ARGUMENTS = b"ARG BASE\n"
_START = b"FROM ${BASE}\n"
_STAGE = b"FROM ${CLOCK} AS clock\n"
_COPY = f"COPY --from=clock {LIBRARY} {LIBRARY}\n".encode()


def files() -> dict[str, bytes]:
    """Give what the image is built from."""
    return {
        "Dockerfile": resources.recipe("clock.Dockerfile"),
        "clock.sh": resources.recipe("clock.sh"),
        **{f"clock/{name}": content for name, content in resources.sources("clock").items()},
    }


def name_of(base: ImageRecord) -> str:
    """Name the image by what it is built on and from."""
    return tag(Kind.CLOCK, "", digest(base.identity, digest_files(files())))


def added_to(recipe: bytes) -> bytes:
    """Have the recipe of an image take the library from the image `${CLOCK}`; arguments count in `FROM` only before the first."""
    recipe = recipe.replace(_ARGUMENTS, _ARGUMENTS + b"ARG CLOCK\n", 1)
    before, start, rest = recipe.partition(_START)
    return before + _STAGE + start + rest + _COPY


def hint_for(said: str) -> str:
    """Say what may help where the library could not be built, from what was said last."""
    return advice.hint_for(said) if advice.lacks_network(said) else ANOTHER_BASE
