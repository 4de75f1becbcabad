"""Finds which axes make a coupling: environments are mixed, axis by axis, until what flips a test is known."""
