"""The systems under test: what describes them, what they need, how they are built and started."""
