"""The calls of GpuBackend, one room per subject; `backend.py` puts them together."""
