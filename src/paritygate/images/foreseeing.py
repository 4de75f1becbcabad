"""Which images a project's cells would start from, and which of them are there: looked up, and none is made."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from paritygate.docker_engine.verbs import Engine
from paritygate.images import base, preparing
from paritygate.images.layers import Layers, PrepareRequest


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """One image: what it is for, its name, and whether it is there."""

    what: str
    name: str
    there: bool


def layers(engine: Engine, request: PrepareRequest) -> Iterator[Layer]:
    """List the images from the base on; the names of the others follow from that, so without one there are no more."""
    recipe, python = preparing.wanted(request)
    start = base.look_up(engine, request.settings, python)
    if start is None:
        yield Layer(what="base", name=request.settings.base or base.official(python), there=False)
        return
    of = Layers(request=request, base=start)
    yield Layer(what="base", name=of.start, there=True)
    named = preparing.look_up(engine, request)
    dependencies = named.dependencies if named else of.dependencies_tag(recipe)
    further = [(each.what, each.name_of(start)) for each in request.compiled]
    further += [("system", of.system_tag()), ("dependencies", dependencies)]
    further += [(f"environment {name}", of.environment_tag(name, dependencies)) for name in request.environments]
    needed = named is None
    for what, name in further:
        # What is below an image that is there is in it, whether it has a name still or not.
        yield Layer(what=what, name=name, there=not needed or engine.image(name) is not None)
