#!/bin/sh
# Builds assay into $BUILD (default build), without the tests. Says a line per phase, on a terminal with the step in place;
# what meson and ninja print only where they fail.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
ninja=$(command -v ninja || command -v ninja-build)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs a command; its output is shown through a filter, kept, and printed if the command fails.
phase() {
    filter=$1
    shift
    { "$@" 2>&1 || echo failed >"$work/failed"; } | tee "$work/log" | "$filter"
    if [ -e "$work/failed" ]; then
        # from the first failure on: the steps before it went well
        if grep -q '^FAILED: ' "$work/log"; then
            sed -n '/^FAILED: /,$p' "$work/log" | grep -v '^\[[0-9]*/[0-9]*\] ' >&2
        else
            cat "$work/log" >&2
        fi
        echo "build: failed" >&2
        exit 1
    fi
}

silent() { cat >/dev/null; }

# One line that each step replaces.
in_place() {
    width=$(stty size <&2 2>/dev/null | cut -d ' ' -f 2)
    while IFS= read -r line; do
        case $line in
        "["*/*"] "*) printf '\r\033[K%.*s' "$((${width:-80} - 1))" "build: $line" ;;
        esac
    done
    printf '\r\033[K'
}

progress=silent
if [ -t 1 ] && [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then
    progress=in_place
fi
began=$(date +%s)
if ! [ -f "$build/build.ninja" ]; then
    echo "build: configuring in $build"
    phase silent meson setup "$build" -Dtests=false
elif ! grep -qF "\"source\": \"$(pwd)\"" "$build/meson-info/meson-info.json"; then
    echo "build: configuring anew, since the folder has moved"
    phase silent meson setup --wipe "$build" -Dtests=false
fi
echo "build: compiling"
phase "$progress" "$ninja" -C "$build"
echo "build: ready after $(($(date +%s) - began)) s"
