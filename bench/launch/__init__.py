"""What a launch costs on the host, as multiples of a C loop that calls `cuLaunchKernel`: ours by form, and peers."""
