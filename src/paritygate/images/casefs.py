"""The case-folding filesystem's daemon: an image that holds it alone, and how an environment's image comes to hold it too."""

from __future__ import annotations

from paritygate.case_folding import WITHOUT
from paritygate.docker_engine.requests import ImageRecord
from paritygate.images import advice, resources
from paritygate.images.names import Kind, digest, digest_files, tag

PROGRAM = "/opt/paritygate/casefs"
ANOTHER_BASE = f"name another image with `base` under `[tool.paritygate.image]`; to do without, {WITHOUT}"
_START = b"FROM ${BASE}\n"
_STAGE = b"ARG CASEFS\nFROM ${CASEFS} AS casefs\n"
_COPY = f"COPY --from=casefs {PROGRAM} {PROGRAM}\n".encode()


def files() -> dict[str, bytes]:
    """Give what the image is built from."""
    return {
        "Dockerfile": resources.recipe("casefs.Dockerfile"),
        "casefs.sh": resources.recipe("casefs.sh"),
        **{f"casefs/{name}": content for name, content in resources.sources("casefs").items()},
    }


def name_of(base: ImageRecord) -> str:
    """Name the image by what it is built on and from."""
    return tag(Kind.CASEFS, "", digest(base.identity, digest_files(files())))


def added_to(recipe: bytes) -> bytes:
    """Have the recipe of an image that starts `FROM ${BASE}` take the daemon from the image `${CASEFS}`."""
    before, start, rest = recipe.partition(_START)
    return before + _STAGE + start + rest + _COPY


def hint_for(said: str) -> str:
    """Say what may help where the daemon could not be built, from what was said last."""
    return f"{advice.hint_for(said)}; to do without, {WITHOUT}" if advice.lacks_network(said) else ANOTHER_BASE
