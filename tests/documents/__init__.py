"""The documents, held against the program that they tell of."""
