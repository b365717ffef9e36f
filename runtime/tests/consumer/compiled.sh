#!/bin/sh
# compiled.sh FOLDER COMMAND...: a launcher of the compiler. It takes the object that a build in FOLDER has, or runs COMMAND.
folder=$1
shift
object=
for word; do
  if [ "$object" = -o ]; then object=$word && break; fi
  if [ "$word" = -o ]; then object=-o; fi
done
if [ -f "$folder/$object" ]; then exec cp "$folder/$object" "$object"; fi
exec "$@"
