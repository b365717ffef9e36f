"""The machine: what it is, what disturbs it, and what the kernel's files say."""
