"""From a file, source or binary to loaded kernels with their signatures."""
