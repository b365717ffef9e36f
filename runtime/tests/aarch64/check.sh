#!/bin/sh
# check.sh CMAKE SOURCE FOLDER GENERATOR MAKE: compiles the library for aarch64, and runs nothing. Ends with 77 if no
# compiler for aarch64 is installed. README.md says how to run the tests.
set -eu
cmake=$1 source=$2 folder=$3
export CMAKE_GENERATOR="$4"
make=-DCMAKE_MAKE_PROGRAM=$5 # of the generator
compiler=aarch64-linux-gnu-g++
if ! command -v "$compiler"; then
  echo "skipped: there is no $compiler (apt-get install g++-aarch64-linux-gnu)"
  exit 77
fi
rm -rf "$folder"
# hwloc's headers of the host serve for every 64-bit processor. A static library is not linked, so it needs only headers.
configured=$(find /usr/include -path '*/hwloc/autogen/config.h' | head -n 1)
hwloc="-idirafter /usr/include -idirafter ${configured%/hwloc/autogen/config.h}"
"$cmake" -S "$source" -B "$folder" "$make" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE= \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-restrict $hwloc"
"$cmake" --build "$folder" -j2
