"""Cells as processes of this computer itself."""
