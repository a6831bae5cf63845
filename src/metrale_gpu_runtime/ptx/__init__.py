"""PTX text -> declarations and instructions. Nothing here executes anything."""
