"""Benchmarks: one command each, always with a baseline in the same run."""
