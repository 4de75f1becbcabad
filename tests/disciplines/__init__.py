"""The ledger and the lock through the real command line and in real repositories; they need git, and no engine."""
