"""libteff for Spack: the folder `packages/teff` of a repository of recipes, with the address of the clone in `git`."""

from spack.package import *  # noqa: F403 - as Spack has it


class Teff(CMakePackage):  # noqa: F405
    """C++20 runtime for small tasks: fork-join, loops, task graphs, messages between ranks."""

    git = "https://example.org/teff.git"

    license("Apache-2.0")

    version("main", branch="main")  # noqa: F405

    variant("shared", default=False, description="Build a shared library")  # noqa: F405
    variant("mpi", default=True, description="Also build the library for many ranks")  # noqa: F405

    depends_on("cxx", type="build")  # noqa: F405
    depends_on("c", type="build", when="+mpi")  # noqa: F405
    depends_on("cmake@3.22:", type="build")  # noqa: F405
    depends_on("pkgconfig", type="build")  # noqa: F405
    depends_on("hwloc")  # noqa: F405
    depends_on("mpi", when="+mpi")  # noqa: F405

    conflicts("%gcc@:11")  # noqa: F405
    conflicts("%clang@:13")  # noqa: F405

    root_cmakelists_dir = "runtime"

    def cmake_args(self) -> list[str]:
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TEFF_MPI", "mpi"),
        ]
