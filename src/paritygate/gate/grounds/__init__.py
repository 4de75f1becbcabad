"""Where the cells of a run run: an engine, this computer itself, another one; each makes itself ready in its own way."""
