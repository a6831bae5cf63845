"""The session that CUDA and HIP share: contexts, memory, streams, launches and graphs over one vendor's library."""
