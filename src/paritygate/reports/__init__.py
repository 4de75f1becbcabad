"""What is shown of a run: each report takes the artifact, or what a cell says while it runs, and returns or draws text."""
