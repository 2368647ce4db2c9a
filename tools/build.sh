#!/bin/sh
# Builds assay into $BUILD (default build), without the tests.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
ninja=$(command -v ninja || command -v ninja-build)
if ! [ -f "$build/build.ninja" ]; then
    echo "build: configuring in $build"
    meson setup "$build" -Dtests=false
elif ! grep -qF "\"source\": \"$(pwd)\"" "$build/meson-info/meson-info.json"; then
    echo "build: configuring anew, since the folder has moved"
    meson setup --wipe "$build" -Dtests=false
fi
echo "build: compiling"
"$ninja" -C "$build"
