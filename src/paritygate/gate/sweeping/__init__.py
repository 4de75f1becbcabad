"""Sweeps: one environment for each value of an axis, judged as a gate's environments are."""
