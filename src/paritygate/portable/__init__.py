"""Helpers for tests that hold on another machine: orders of commuting operations, clocks to hand in, values behind texts."""
