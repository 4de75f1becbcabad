"""The filesystem of a cell: made by the launcher, as root, before the first test. Nothing here imports anything of paritygate."""
