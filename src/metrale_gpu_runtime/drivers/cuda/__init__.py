"""CUDA, on NVIDIA's driver API."""
