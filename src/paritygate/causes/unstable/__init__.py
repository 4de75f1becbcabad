"""Finds out why a test disagrees with itself: the order and what ran before it, a seed, what ran beside it, or chance."""
