"""Confirms or overturns couplings by running more: further attempts, then the order of one environment inside another."""
