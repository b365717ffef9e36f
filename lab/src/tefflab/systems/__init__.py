"""The systems under test: their descriptions, their needs, their build and their start."""
