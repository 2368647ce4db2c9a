#!/bin/sh
# smoke.sh FOUND PROGRAM ARGUMENTS: runs a libFuzzer program that keeps what it finds in the folder FOUND.
found=$1
shift
mkdir -p "$found" && exec "$@" "$found"
