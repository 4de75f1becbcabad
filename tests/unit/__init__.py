"""Tests without any input or output beyond a temporary folder."""
