#!/bin/sh
# Has spin explore the model of how an epoch ends. No epoch may end too early or get stuck, and spin has to find
# each fault that is put in.
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

# explore NAME SPIN_FLAGS CC_FLAGS PAN_FLAGS: prints the output of spin.
explore() {
  folder=$1
  mkdir -p "$folder"
  (
    cd "$folder"
    # shellcheck disable=SC2086 # flags are words
    spin -a $2 "$model" > spin.log && cc -O1 -w $3 -o pan pan.c && ./pan $4 > pan.log 2>&1
  ) || true # the logs say what went wrong
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

# is_found NUMBER WORDS SPIN_FLAGS CC_FLAGS PAN_FLAGS
is_found() {
  if ! explore "fault_$1" "-DFAULT=$1 $3" "$4" "$5" | grep -q "errors: [1-9]"; then
    echo "not found: fault $1, $2"
    exit 1
  fi
  echo "found: fault $1, $2"
}

safe="-DSAFETY"
deep="-m200000"
holds star "-DCHAIN=0 -DMESSAGES=2 -DSTRAYS=0" "$safe" "$deep"
holds star_stray "-DCHAIN=0 -DMESSAGES=1 -DSTRAYS=1" "$safe" "$deep"
holds chain "-DCHAIN=1 -DMESSAGES=2 -DSTRAYS=0" "$safe" "$deep"
two="-DMESSAGES=2 -DSTRAYS=0"
one="-DMESSAGES=1 -DSTRAYS=0"
chain="-DCHAIN=1 -DMESSAGES=1 -DSTRAYS=0"
is_found 1 "the root ends after one wave in which the sums agree" "$two" "$safe" "$deep"
is_found 2 "a rank reports while messages wait to be handled" "$two" "$safe" "$deep"
is_found 3 "the root compares what was handled with what was handled" "$two" "$safe" "$deep"
is_found 4 "a rank does not wait for its children's reports" "$chain" "$safe" "$deep"
is_found 5 "a wave is not passed on to the children" "$chain" "$safe" "$deep"
is_found 6 "a thread of no activity does not look at the seal" "-DMESSAGES=1 -DSTRAYS=1" "$safe" "$deep"
is_found 7 "a message that comes does not break the seal" "$two" "$safe" "$deep"
is_found 8 "the sums of a wave begin with those of the last one" "$one" "$safe" "$deep"
is_found 9 "the root remembers what was sent instead of what was handled" "$two" "$safe" "$deep"
is_found 11 "the root ends an epoch without messages only" "$one" "$safe" "$deep"
is_found 10 "the end is not passed on to the children" "$chain" "$safe" "$deep"
