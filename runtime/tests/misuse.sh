#!/bin/sh
# misuse.sh COMPILER INCLUDE FILE: the compiler takes FILE. With MISUSE defined, its static assertions say each text that FILE has
# behind "// error: ", at least as often as FILE has it. It names the line of FILE that has the text, or the one below.
set -eu
compiler=$1 include=$2 file=$3
compile() { LC_ALL=C "$compiler" -std=c++20 -fsyntax-only "-I$include" "$@" "$file"; }
compile
all=$(compile -DMISUSE 2>&1 || true)
said=$(printf '%s\n' "$all" | grep -E 'static.assert[a-z]* failed' || true)
sed -n 's|.*// error: ||p' "$file" | while IFS= read -r text; do
  expected=$(grep -cF "// error: $text" "$file")
  found=$(printf '%s\n' "$said" | grep -cF "$text" || true)
  [ "$found" -ge "$expected" ] || { echo "the compiler says $found times instead of $expected: $text"; exit 1; }
done
grep -n '// error: ' "$file" | cut -d: -f1 | while IFS= read -r line; do
  printf '%s\n' "$all" | grep -qE "${file##*/}:($line|$((line + 1)))[:,]" ||
    { echo "the compiler does not name line $line of $file"; exit 1; }
done
