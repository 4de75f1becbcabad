"""The witness values of each axis: one table, each value with the reason why it is there, and what a value is to a cell."""
