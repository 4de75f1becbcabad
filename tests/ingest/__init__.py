"""What is read of pytest elsewhere, from real output of many versions."""
