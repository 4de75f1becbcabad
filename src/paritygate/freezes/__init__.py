"""The freeze ledger: which nondeterministic tests are let through, on whose word, on what evidence, and until which day."""
