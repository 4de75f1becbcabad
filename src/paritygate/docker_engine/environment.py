"""How a container that will become an image gets its variables, so that none stays in the image.

An image of a container keeps the container's own configuration, variables with it, in its record of the container; no setting
of the commit takes them away. So the command reads them from its stdin before it starts, and the configuration never holds them.
"""

from __future__ import annotations

import re
import shlex

from paritygate.docker_engine.requests import ContainerRequest
from paritygate.errors import EngineError

READS_VARIABLES = 'eval "$(cat)" && exec "$@" </dev/null'
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def sourced(request: ContainerRequest) -> tuple[list[str], bytes]:
    """Give the command to run and what has to be written to its stdin, empty where variables may be in the configuration."""
    if request.kind == "cell" or request.stdin or not request.environment:
        return list(request.command), b""
    for name in request.environment:
        if NAME.fullmatch(name) is None:
            raise EngineError(f"`{name}` cannot be the name of a variable in a container")
    lines = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in request.environment.items())
    return ["/bin/sh", "-c", READS_VARIABLES, "sh", *request.command], lines.encode()
