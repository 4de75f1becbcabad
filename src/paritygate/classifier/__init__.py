"""Cells in, labels and verdict out: pure functions that do not care which runner, machine or file a cell is from."""
