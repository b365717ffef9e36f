"""The lab's output: tables, the live display, plots, the report."""
