#!/bin/sh
# smoke.sh FOUND CORPUS PROGRAM ARGUMENTS: runs a libFuzzer program. It adds what it finds to the first folder it is given,
# which is therefore not the corpus of the sources.
found=$1
corpus=$2
shift 2
mkdir -p "$found" && exec "$@" "$found" "$corpus"
