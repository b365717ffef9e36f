"""What programs say, and the store that keeps it."""
