"""What the flags of a task graph take, for help and completion; the program `task_graph` decides what is right."""

VALUES = {
    "type": (
        "trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "sweep", "dom", "tree", "tree_in_out", "fft",
        "all_to_all", "nearest", "spread", "random_nearest", "random_spread",
    ),
    "kernel": (
        "empty", "busy_wait", "compute_bound", "compute_bound2", "memory_bound", "compute_dgemm", "memory_daxpy",
        "io_bound", "load_imbalance",
    ),
}  # fmt: skip
_TYPES = f"-width, -steps, -radix and more take numbers; -type one of {' '.join(VALUES['type'])}"
_ALL = "all of them in docs/reference/flags.md"
HELP = f"Flags of graphs and their tasks, {_ALL}: {_TYPES}; -kernel one of {' '.join(VALUES['kernel'])}."
HELP_OF_MEASURING = f"Further flags say what graph, {_ALL}: {_TYPES}."
