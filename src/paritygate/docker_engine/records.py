"""Images as the engine describes them, made ours."""

from __future__ import annotations

from typing import Any

from paritygate.docker_engine.requests import ImageRecord


def image_record(inspected: dict[str, Any]) -> ImageRecord:
    """Make a record of what inspecting an image says."""
    labels = (inspected.get("Config") or {}).get("Labels") or {}
    return ImageRecord(
        identity=str(inspected["Id"]),
        tags=tuple(inspected.get("RepoTags") or ()),
        labels={name: value for name, value in labels.items() if value},
        created=str(inspected.get("Created") or ""),
        size=int(inspected.get("Size") or 0),
        layers=tuple((inspected.get("RootFS") or {}).get("Layers") or ()),
    )
