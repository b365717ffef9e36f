#!/bin/sh
# check.sh CMAKE SOURCE FOLDER COMPILER GENERATOR MAKE BUILD FILES: installs the library under FOLDER and builds and runs a
# project that finds it in each of the ways a user has. BUILD has objects of libteff, each of so many FILES.
set -eu
cmake=$1 source=$2 folder=$3 compiler=$4
export CMAKE_GENERATOR="$5"
make=-DCMAKE_MAKE_PROGRAM=$6 # of the generator
build=$7 files=$8
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder"
mkdir -p "$folder"
installed=$folder/installed # not the prefix of the configuration
fast="-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=$files -DCMAKE_BUILD_TYPE=" # it is linked, and hardly run
# configure FOLDER WAY OPTION...: the project that finds the library in this way.
configure() {
  into=$1 way=$2
  shift 2
  "$cmake" -S "$here" -B "$into" "$make" $fast -DWAY="$way" -DCMAKE_PREFIX_PATH="$installed" -DTEFF_SOURCE="$source" \
    -DCMAKE_CXX_COMPILER="$compiler" "$@"
}

# by_pkg_config LIBRARY PROGRAM OPTION...: compiles the program to $folder/pkg-config.
by_pkg_config() {
  library=$1 program=$2
  shift 2
  "$compiler" -std=c++20 "$here/$program.cpp" "$@" $(pkg-config --cflags --libs "$library") -o "$folder/pkg-config/$program"
}

# What is fetched is part of the project, and installed with it only if the user asks for it.
# Of its libraries only libteff_tsan is compiled here. The objects of the others are there.
configure "$folder/FetchContent" FetchContent -DTEFF_TSAN=ON -DCMAKE_INSTALL_PREFIX="$folder/elsewhere" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="sh;$here/compiled.sh;$build"
"$cmake" --build "$folder/FetchContent" -j2
"$folder/FetchContent/consumer_in_c"
"$cmake" --install "$folder/FetchContent" --prefix "$installed"
test ! -e "$installed/include/teff"
"$cmake" --install "$folder/FetchContent" --prefix "$installed" --component libteff
PKG_CONFIG_PATH=$(dirname "$(find "$installed" -name teff.pc)")
export PKG_CONFIG_PATH
grep -q "The Teff authors" "$installed/share/doc/libteff/LICENSE"
# A library of the project that links it can be exported.
configure "$folder/exported" exported
"$cmake" --build "$folder/exported"
"$folder/exported/consumer_of_consuming"
echo "FetchContent, and a library that links it: work"

configure "$folder/find_package" find_package
"$cmake" --build "$folder/find_package" -j2 --target throws consumer_in_c
"$folder/find_package/throws"
"$folder/find_package/consumer_in_c"
echo "find_package: works"
configure "$folder/pkg-config" pkg-config # the headers are no system's, so that the compiler warns of them
"$cmake" --build "$folder/pkg-config" -j2 --target consumer consumer_in_c
"$folder/pkg-config/consumer"
"$folder/pkg-config/consumer_in_c"
echo "pkg-config: works"
# Ranks, where MPI is.
if [ -e "$PKG_CONFIG_PATH/teff-mpi.pc" ]; then
  for way in find_package FetchContent; do "$cmake" --build "$folder/$way" -j2 --target ranks; done
  by_pkg_config teff-mpi ranks
  for way in find_package FetchContent pkg-config; do
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$folder/$way/ranks"
    echo "$way, ranks: works"
  done
fi
# A shared library exports what exported.txt lists, and no more; to change the list: UPDATE_EXPORTED=1 sh check.sh ...
# Its objects are those of the static library, which is compiled for plugins as well.
"$cmake" -S "$source" -B "$folder/shared" "$make" $fast -DCMAKE_CXX_COMPILER="$compiler" -DBUILD_SHARED_LIBS=ON \
  -DCMAKE_CXX_COMPILER_LAUNCHER="sh;$here/compiled.sh;$folder/FetchContent/_deps/teff-build"
"$cmake" --build "$folder/shared" -j2
"$cmake" --install "$folder/shared" --prefix "$folder/installed-shared"
nm -D --defined-only --demangle "$folder"/shared/libteff*.so |
  awk '$2 ~ /^[TDBR]$/ { $1 = $2 = ""; print }' |
  sed -E 's/^ *(non-virtual thunk to )?//; s/[(\[].*//; s/^(teff::detail::[a-z_]+).*/\1/' | sort -u >"$folder/exported.txt"
if [ -n "${UPDATE_EXPORTED:-}" ]; then cp "$folder/exported.txt" "$here/exported.txt"; fi
without=nothing
if [ ! -e "$PKG_CONFIG_PATH/teff-mpi.pc" ]; then without=teff::mpi::; fi
grep -v "^$without" "$here/exported.txt" | diff - "$folder/exported.txt"
configure "$folder/find-shared" find_package -DCMAKE_PREFIX_PATH="$folder/installed-shared" \
  -DCMAKE_CXX_FLAGS="-fvisibility=hidden -fvisibility-inlines-hidden"
"$cmake" --build "$folder/find-shared" -j2 --target consumer consumer_in_c throws
"$folder/find-shared/consumer"
"$folder/find-shared/consumer_in_c"
"$folder/find-shared/throws"
echo "shared library: works"

# Its Debian packages, unpacked by dpkg below a root of their own. Only root may use dpkg.
if command -v dpkg-shlibdeps >/dev/null; then
  root=$folder/root
  "$cmake" -DTEFF_MPI=OFF "$folder/shared"
  (cd "$folder/shared" && "$(dirname "$cmake")/cpack" -G DEB -B "$folder/packages" >/dev/null)
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  : >"$root/var/lib/dpkg/status"
  if [ "$(id -u)" -eq 0 ]; then
    dpkg --root="$root" --unpack "$folder"/packages/*.deb
  else
    for package in "$folder"/packages/*.deb; do dpkg-deb --extract "$package" "$root"; done
  fi
  configure "$folder/find-packages" find_package -DCMAKE_PREFIX_PATH="$root/usr/local"
  "$cmake" --build "$folder/find-packages" --target consumer_in_c
  "$folder/find-packages/consumer_in_c"
  PKG_CONFIG_PATH=$(dirname "$(find "$root" -name teff.pc)") sh -c "$compiler -std=c++20 $here/throws.cpp \
    \$(pkg-config --cflags --libs teff) -o $folder/by-pkg-config"
  LD_LIBRARY_PATH="$root/usr/local/lib" "$folder/by-pkg-config"
  echo "Debian packages: work"
else
  echo "Debian packages: skipped, dpkg-dev is not here"
fi

# A program that is compiled for another mode of the standard library is refused by name.
if "$compiler" -std=c++20 -D_GLIBCXX_DEBUG "$here/throws.cpp" $(pkg-config --cflags --libs teff) -o "$folder/debug" \
  >"$folder/debug.txt" 2>&1; then
  echo "a program with _GLIBCXX_DEBUG was linked with a library without"
  exit 1
fi
grep -q "libteff_is_built_for(teff::detail::libstdcxx_with_GLIBCXX_DEBUG" "$folder/debug.txt"

# Under AddressSanitizer, whether or not the library was compiled for it.
by_pkg_config teff throws -fsanitize=address
"$folder/pkg-config/throws"
echo "address sanitizer: works"

# Under ThreadSanitizer, if the compiler has it and the kernel lets it run.
echo 'int main() {}' >"$folder/nothing.cpp"
fixed=
sanitized="$folder/nothing"
if ! "$compiler" -fsanitize=thread "$folder/nothing.cpp" -o "$sanitized"; then
  echo "thread sanitizer: skipped, the compiler has none"
  exit 0
fi
if ! "$sanitized"; then
  fixed="setarch -R" # newer kernels' layout is too wide for it
  if ! $fixed "$sanitized"; then
    echo "thread sanitizer: skipped, it does not run here"
    exit 0
  fi
fi
configure "$folder/tsan" find_package -DCMAKE_CXX_FLAGS=-fsanitize=thread
"$cmake" --build "$folder/tsan" -j2 --target hand_overs
TSAN_OPTIONS=exitcode=66 $fixed "$folder/tsan/hand_overs"
echo "find_package, thread sanitizer: works"
by_pkg_config teff-tsan race
status=0
# It reports no race with an access that has left its history. That of a thread which searches for work is soon full, if the
# system runs the other one late: on a busy machine some of these runs report nothing.
for try in 1 2 3 4 5 6 7 8 9 10; do
  echo "race, run $try"
  TSAN_OPTIONS="exitcode=66 history_size=7" $fixed "$folder/pkg-config/race" || { status=$? && break; }
done
test "$status" -eq 66
echo "pkg-config, thread sanitizer: works"
# A program that is linked with the other library is told so.
by_pkg_config teff race -fsanitize=thread
{ $fixed "$folder/pkg-config/race" 2>&1 || true; } | grep -q "link libteff_tsan"
