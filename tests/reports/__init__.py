"""Reports in every format."""
