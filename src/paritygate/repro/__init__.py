"""Runs one test of a report once more, in the cell that it ran in, and says whether it does what it did there."""
