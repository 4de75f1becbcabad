"""Where cells run: one protocol, one module for each kind of place."""
