"""The loop that measures: rounds, the runner, noise, the time budget."""
