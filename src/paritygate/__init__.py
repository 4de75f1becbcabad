"""Run one pytest selection in several environments, label every test, and stop what holds on one machine only."""
