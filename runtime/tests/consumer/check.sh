#!/bin/sh
# check.sh CMAKE SOURCE FOLDER COMPILER GENERATOR MAKE: installs the library under FOLDER and builds and runs a
# project that finds it in each of the ways a user has.
set -eu
cmake=$1 source=$2 folder=$3 compiler=$4
export CMAKE_GENERATOR="$5"
make=-DCMAKE_MAKE_PROGRAM=$6 # of the generator
here=$(dirname "$0")
rm -rf "$folder"
mkdir -p "$folder"
installed=$folder/installed # not the prefix of the configuration
"$cmake" -S "$source" -B "$folder/library" "$make" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
  -DTEFF_RUNTIME_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$folder/elsewhere"
"$cmake" --build "$folder/library" -j2
"$cmake" --install "$folder/library" --prefix "$installed"
pc=$(dirname "$(find "$installed" -name teff.pc)")
for way in find_package FetchContent pkg-config; do
  PKG_CONFIG_PATH=$pc "$cmake" -S "$here" -B "$folder/$way" "$make" -DWAY="$way" -DCMAKE_PREFIX_PATH="$installed" \
    -DTEFF_SOURCE="$source" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug
  "$cmake" --build "$folder/$way" -j2
  "$folder/$way/consumer"
  echo "$way: works"
done
# What is fetched is part of the project, and not installed with it.
"$cmake" --install "$folder/FetchContent" --prefix "$folder/fetched"
test ! -e "$folder/fetched"
