"""Statistics: arrays in, values out."""
