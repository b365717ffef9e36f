#!/bin/sh
# compiled.sh FOLDER COMMAND...: a launcher of the compiler. It takes the object that a build of libteff in FOLDER has, or runs
# COMMAND.
folder=$1
shift
object=
for word; do
  if [ "$object" = -o ]; then object=$word && break; fi
  if [ "$word" = -o ]; then object=-o; fi
done
made=$folder/${object##*_deps/teff-build/}
if [ -f "$made" ]; then exec cp "$made" "$object"; fi
exec "$@"
