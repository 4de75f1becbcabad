"""Hazards in source files: read, never run. `check.check` is the whole of it on one screen."""
