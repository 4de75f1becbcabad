"""Tests that run the launcher with real processes and real signals, and no engine."""
