"""Where a user's own package managers have put libraries: CMake and pkg-config look there, too.

CMake itself looks into CMAKE_PREFIX_PATH and, for each `bin` of PATH, into the folder above it. This suffices for
environment modules, and for a Spack environment that is activated with its view. This module adds the other variables
of an active environment.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

_TOLD = ("CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "CONDA_PREFIX", "SPACK_ENV", "LOADEDMODULES", "PATH", "CXX", "CC")
_PKG_CONFIG = ("lib/pkgconfig", "lib64/pkgconfig", "share/pkgconfig")


def search_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables by which CMake and pkg-config find the packages of an active environment; the user's values come
    first."""
    environment = os.environ if environment is None else environment
    prefixes = list(_prefixes(environment))
    if not prefixes:
        return {}
    configs = [str(path) for prefix in prefixes for each in _PKG_CONFIG if (path := prefix / each).is_dir()]
    return {
        "CMAKE_PREFIX_PATH": _joined(environment.get("CMAKE_PREFIX_PATH", ""), map(str, prefixes)),
        "PKG_CONFIG_PATH": _joined(environment.get("PKG_CONFIG_PATH", ""), iter(configs)),
    }


def fingerprint(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables whose change makes CMake look anew."""
    environment = os.environ if environment is None else environment
    return {name: environment[name] for name in _TOLD if name in environment}


def _prefixes(environment: Mapping[str, str]) -> Iterator[Path]:
    if conda := environment.get("CONDA_PREFIX"):
        yield Path(conda)
    if (spack := environment.get("SPACK_ENV")) and (view := Path(spack) / ".spack-env/view").is_dir():
        yield view


def _joined(said: str, more: Iterator[str]) -> str:
    return os.pathsep.join(dict.fromkeys(filter(None, [*said.split(os.pathsep), *more])))
