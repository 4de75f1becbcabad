"""Holds a report to what it is made of: its own cells, and the checkout that it claims to be about. It runs nothing."""
