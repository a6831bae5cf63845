"""Proof on real hardware: conformance, the example model, faults and launch costs, in one command and one report."""
