"""Sentence embeddings with all-MiniLM-L6-v2, every step a kernel launched by metrale_gpu_runtime."""
