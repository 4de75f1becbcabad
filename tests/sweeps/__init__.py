"""Sweeps: values, rules, proofs, and the cells of one."""
