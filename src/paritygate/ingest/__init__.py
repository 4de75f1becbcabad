"""Reads what pytest says of a run elsewhere: its own terminal output, a JUnit XML, or a report log."""
