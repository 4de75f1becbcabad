"""What the cells of a sweep mean together: pure, from what was observed of values to the smallest rule that fits."""
