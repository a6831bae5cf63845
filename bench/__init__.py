"""Benchmarks: every claim of speed is a ratio from here, of medians of interleaved runs."""
