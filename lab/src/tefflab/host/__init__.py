"""The machine: its facts, its disturbances, and the kernel's files about both."""
