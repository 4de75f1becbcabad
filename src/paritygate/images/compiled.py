"""What environments' images hold that is compiled: each has an image that holds it alone, from which others take it."""

from __future__ import annotations

import msgspec

from paritygate.case_folding import WITHOUT
from paritygate.docker_engine.requests import ImageRecord
from paritygate.images import advice, resources
from paritygate.images.names import Kind, digest, digest_files, tag

_ARGUMENTS = b"ARG BASE\n"
_START = b"FROM ${BASE}\n"


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of C sources below `images/`, named as its kind is, and what it becomes.

    `made` is the file's name, `what` names it in words, without an article, and `without` says how to do without it.
    """

    kind: Kind
    made: str
    what: str
    without: str

    @property
    def place(self) -> str:
        """Where images have it."""
        return f"/opt/paritygate/{self.made}"

    @property
    def argument(self) -> str:
        """Name the argument of recipes that take it; its value is the image that holds it."""
        return self.kind.upper()

    @property
    def another_base(self) -> str:
        """Say what to do where a base has not what building it takes."""
        return f"name another image with `base` under `[tool.paritygate.image]`; to do without, {self.without}"

    def files(self) -> dict[str, bytes]:
        """Give what the image is built from."""
        return {
            "Dockerfile": resources.recipe("compiled.Dockerfile"),
            "compiled.sh": resources.recipe("compiled.sh"),
            **{f"sources/{name}": content for name, content in resources.sources(self.kind).items()},
        }

    def name_of(self, base: ImageRecord) -> str:
        """Name the image by what it is built on and from."""
        return tag(self.kind, "", digest(base.identity, digest_files(self.files())))

    def added_to(self, recipe: bytes) -> bytes:
        """Have a recipe that starts `FROM ${BASE}` take it from its image; arguments of stages come before the first of them."""
        arguments = _ARGUMENTS + f"ARG {self.argument}\n".encode()
        before, start, rest = recipe.replace(_ARGUMENTS, arguments, 1).partition(_START)
        stage = f"FROM ${{{self.argument}}} AS {self.kind}\n".encode()
        return before + stage + start + rest + f"COPY --from={self.kind} {self.place} {self.place}\n".encode()

    def hint_for(self, said: str) -> str:
        """Say what may help where it could not be built, from what was said last."""
        return f"{advice.hint_for(said)}; to do without, {self.without}" if advice.lacks_network(said) else self.another_base


CASEFS = Compiled(kind=Kind.CASEFS, made="casefs", what="case-folding filesystem", without=WITHOUT)
CLOCK = Compiled(kind=Kind.CLOCK, made="clock.so", what="library that moves clocks", without="set no `clock` in any environment")
COMPILED = (CASEFS, CLOCK)
