"""What people see: tables, the live display, plots, the report."""
