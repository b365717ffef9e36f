"""The kinds of benchmark, a file each: its questions, its estimate, its columns and charts."""
