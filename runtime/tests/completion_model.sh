#!/bin/sh
# Has spin explore the model of how an epoch ends: no epoch ends too early, and none gets stuck.
# usage: completion_model.sh MODEL WORK_FOLDER
set -eu
model=$1
work=$2
if ! command -v spin > /dev/null || ! command -v cc > /dev/null; then
  echo "skipped: spin or a C compiler is not installed"
  exit 77
fi
mkdir -p "$work"
cd "$work"

# explore NAME SPIN_FLAGS CC_FLAGS PAN_FLAGS: prints what spin has found.
explore() {
  folder=$1
  mkdir -p "$folder"
  (
    cd "$folder"
    # shellcheck disable=SC2086 # flags are words
    spin -a $2 "$model" > spin.log && cc -O1 -w $3 -o pan pan.c && ./pan $4 > pan.log 2>&1
  ) || true # what went wrong stands in what it printed
  cat "$folder"/*.log
}

# holds NAME SPIN_FLAGS CC_FLAGS PAN_FLAGS
holds() {
  found=$(explore "$@")
  if ! echo "$found" | grep -q "errors: 0" || echo "$found" | grep -q "max search depth too small\|error: max"; then
    echo "$found"
    echo "the model does not hold: $1"
    exit 1
  fi
  echo "holds: $1, $(echo "$found" | sed -n 's/^ *\([0-9]*\) states, stored.*/\1 states/p' | head -n 1)"
}

safe="-DSAFETY"
deep="-m200000"
holds star "-DCHAIN=0 -DMESSAGES=2 -DSTRAYS=0" "$safe" "$deep"
holds star_stray "-DCHAIN=0 -DMESSAGES=1 -DSTRAYS=1" "$safe" "$deep"
holds chain "-DCHAIN=1 -DMESSAGES=2 -DSTRAYS=0" "$safe" "$deep"
