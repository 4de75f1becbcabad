"""What is drawn on a terminal, in a real one."""
