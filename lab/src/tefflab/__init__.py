"""Teff's lab: plans measurements, runs them, and says how small a task may be."""

from pathlib import Path

__version__ = "0.1.0"


def project_root() -> Path:
    """Where `bench/`, `runtime/` and `experiments/` are: the clone that holds this package, or the sources that a wheel
    carries, unpacked."""
    from tefflab import carried

    return carried.unpacked() if carried.ARCHIVE.is_file() else Path(__file__).resolve().parents[3]
