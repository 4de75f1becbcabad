"""Removing what dead runs have left behind: containers, volumes, temporary images and images without a name.

Nothing without our labels is ever looked at, and nothing whose owner lives.
"""

from __future__ import annotations

from paritygate.docker_engine import containers, images, unnamed
from paritygate.docker_engine.client import Client
from paritygate.docker_engine.failures import engine_errors, unless_gone
from paritygate.docker_engine.owners import Owner, abandoned
from paritygate.docker_engine.requests import KIND_LABEL, OWNER_LABEL, TEMPORARY


def sweep(client: Client, here: Owner, now: float) -> tuple[str, ...]:
    """Remove what is abandoned, and say what it was."""
    swept = []
    with engine_errors("list containers"):
        listed = client.containers(all=True, filters={"label": OWNER_LABEL})
    for container in listed:
        name = (container.get("Names") or [container["Id"]])[0].lstrip("/")
        if abandoned(container.get("Labels") or {}, here, now) and containers.remove(client, container["Id"]):
            swept.append(f"container `{name}`")
    with engine_errors("list volumes"):
        volumes = client.volumes(filters={"label": OWNER_LABEL}).get("Volumes") or []
    for volume in volumes:
        if abandoned(volume.get("Labels") or {}, here, now):
            with engine_errors(f"remove the volume `{volume['Name']}`"), unless_gone():
                client.remove_volume(volume["Name"])
            swept.append(f"volume `{volume['Name']}`")
    with engine_errors("remove temporary images"):
        swept += [
            f"image `{next(iter(image.tags), image.identity)}`"
            for image in images.labelled(client, f"{KIND_LABEL}={TEMPORARY}")
            if abandoned(image.labels, here, now) and unnamed.remove_if_unused(client, image.identity)
        ]
    return (*swept, *unnamed.sweep(client, here, now))
