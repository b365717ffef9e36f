"""Teff's lab: plans measurements, runs them, and says how small a task may be."""

from pathlib import Path

__version__ = "0.1.0"


def project_root() -> Path:
    """The checkout this package is installed from (it is always installed as editable)."""
    return Path(__file__).resolve().parents[3]
