"""The selection from the diff, on real repositories; they need git, and no engine."""
