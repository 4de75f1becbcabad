"""What a run on this computer itself takes: a folder for its cells, the project's interpreter, and what can vary here."""
