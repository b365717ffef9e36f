"""libteff for Conan: `conan create packaging/conan -s compiler.cppstd=20`; hwloc is the system's."""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.system.package_manager import Apt, Dnf, PacMan, Zypper

CHECKOUT = Path(__file__).resolve().parents[2]


class Libteff(ConanFile):
    name = "teff"
    description = "C++20 runtime for small tasks: fork-join, loops, task graphs, messages"
    license = "Apache-2.0"
    topics = ("parallelism", "tasks", "work-stealing")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}  # noqa: RUF012 - as Conan has it
    default_options = {"shared": False, "fPIC": True}  # noqa: RUF012
    implements = ["auto_shared_fpic"]  # noqa: RUF012

    def set_version(self) -> None:
        """The version is `teff::version_number`."""
        header = (CHECKOUT / "runtime/include/teff/runtime.hpp").read_text(encoding="utf-8")
        number = int(re.search(r"int version_number = ([\d']+)", header)[1].replace("'", ""))
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def export_sources(self) -> None:
        to = Path(self.export_sources_folder)
        copy(self, "*", CHECKOUT / "runtime", to / "runtime")
        copy(self, "LICENSE", CHECKOUT, to)

    def layout(self) -> None:
        cmake_layout(self, src_folder="runtime")

    def validate(self) -> None:
        check_min_cppstd(self, 20)

    def system_requirements(self) -> None:
        Apt(self).install(["libhwloc-dev", "pkg-config"], check=True)
        Dnf(self).install(["hwloc-devel", "pkgconf-pkg-config"], check=True)
        PacMan(self).install(["hwloc", "pkgconf"], check=True)
        Zypper(self).install(["hwloc-devel", "pkg-config"], check=True)

    def generate(self) -> None:
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["TEFF_MPI"] = False
        toolchain.generate()

    def build(self) -> None:
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self) -> None:
        copy(self, "LICENSE", Path(self.source_folder).parent, Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self) -> None:
        """Its users take the package's own teffConfig.cmake, which finds hwloc, too."""
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/teff"]
        self.cpp_info.libs = ["teff"]
        self.cpp_info.system_libs = ["pthread"] if self.options.shared else ["pthread", "hwloc"]
