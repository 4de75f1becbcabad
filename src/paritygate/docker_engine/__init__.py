"""The engine: the only place that imports the Docker SDK, and the only one that owns a container's life."""
