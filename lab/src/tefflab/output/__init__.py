"""The lab's output: tables, the live display, pictures, the report."""
