"""Tests that mount the case-insensitive filesystem; they take root, /dev/fuse and a C compiler, and fail without."""
