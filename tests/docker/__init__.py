"""Tests that need an engine."""
