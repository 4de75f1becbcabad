"""The gate: from a working tree to an artifact and an exit code; `flow.run` is the whole of it on one screen."""
