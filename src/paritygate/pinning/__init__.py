"""What pins a pytest process: the values of one table put in force, and what was before put back."""
