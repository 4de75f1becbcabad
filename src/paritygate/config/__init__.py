"""The configuration: what a project may set, read strictly and explained."""
