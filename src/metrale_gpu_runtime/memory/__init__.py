"""What a backend keeps of memory: the ledger, red zones, what is in flight, pointers, scratch, pinned memory."""
