"""Has charmrun start a program's processes, and ends as they did.

`start_processes.py N PROGRAM FLAGS`: how many, and what each of them runs.
"""

import subprocess
import sys
from signal import SIGKILL

LOST = "error on request socket"  # charmrun's message for a process that has ended amid a run, for any reason


def main() -> int:
    """Returns the exit code; 128 + SIGKILL for a lost process, since a kill is the usual cause."""
    charmrun = [sys.executable, "-m", "charmrun.start", "++local", "++quiet", f"+p{sys.argv[1]}"]
    is_lost = False
    with subprocess.Popen([*charmrun, *sys.argv[2:]], stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        for line in started.stderr:
            is_lost = is_lost or LOST in line
            print(line, end="", file=sys.stderr, flush=True)
    return 128 + SIGKILL if is_lost else started.returncode


if __name__ == "__main__":
    sys.exit(main())
