"""What was done: launches and operations as they are remembered, traces, and whom a fault is blamed on."""
