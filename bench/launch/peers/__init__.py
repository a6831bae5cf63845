"""One file for each peer: how its users launch, as rows. Each imports its peer alone; none imports this package."""
