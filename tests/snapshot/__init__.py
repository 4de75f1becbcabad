"""Snapshots of real repositories in temporary directories."""
