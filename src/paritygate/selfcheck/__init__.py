"""The gate tried on faults that were planted: one for each axis, and tests that have none, so that both can be missed."""
