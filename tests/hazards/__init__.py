"""Hazards found in real files, by the real program, with git and ruff as they are."""
