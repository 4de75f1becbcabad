"""What is held to before a run and beside it: the ledger of frozen tests and the lock of fixtures, where they lie."""
