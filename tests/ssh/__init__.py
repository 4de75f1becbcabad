"""Cells on another computer: a real sshd on the loopback interface."""
