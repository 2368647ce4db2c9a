#!/bin/sh
# Installs what is missing to build and run assay (setup.sh run), to test it (test) and to check a change (check).
# Says each step before it is done. When nothing is missing it needs no network and changes nothing.
set -u
goal=${1:-run}
case $goal in run | test | check) ;; *)
    echo "usage: tools/setup.sh run|test|check" >&2
    exit 2
    ;;
esac
cd "$(dirname "$0")/.." || exit 1
began=$(date +%s)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# goal need check Debian Fedora Arch Homebrew what-for; "-" where there is no package
parts() {
    cat <<'PARTS'
run   need cc               gcc                   gcc                  gcc           gcc          compiles assay
run   need header:stdio.h   libc6-dev             glibc-devel          glibc         -            C library headers
run   need cmd:python3      python3               python3              python        python       build steps
run   need cmd:meson        meson                 meson                meson         meson        build
run   need cmd:ninja        ninja-build           ninja-build          ninja         ninja        build
run   need cmd:pkg-config   pkg-config            pkgconf              pkgconf       pkgconf      finds libraries
run   need pc:hwloc         libhwloc-dev          hwloc-devel          hwloc         hwloc        CPU topology and binding
run   need pc:sqlite3       libsqlite3-dev        sqlite-devel         sqlite        sqlite       the store
run   need pc:jansson       libjansson-dev        jansson-devel        jansson       jansson      JSON
run   need pc:inih          libinih-dev           inih-devel           libinih       inih         suite files
run   need pc:libxxhash     libxxhash-dev         xxhash-devel         xxhash        xxhash       hashes
run   want header:CL/cl.h   opencl-c-headers      opencl-headers       opencl-headers opencl-headers the OpenCL backend
run   want lib:libOpenCL.so.1 ocl-icd-libopencl1  ocl-icd              ocl-icd       -            finds OpenCL drivers
run   want icd              pocl-opencl-icd       pocl                 pocl          pocl         OpenCL on the CPU
run   want cmd:node         nodejs                nodejs               nodejs        node         charts in the report
run   want cmd:npm          npm                   nodejs-npm           npm           node         charts in the report
run   want cmd:cmark-gfm    cmark-gfm             -                    -             cmark-gfm    methods in the report
test  need pc:cmocka        libcmocka-dev         libcmocka-devel      cmocka        cmocka       unit tests
test  want cmd:chromium     chromium              chromium             chromium      chromium     browser test
test  want cmd:localedef    libc-bin              glibc-common         glibc         -            test with decimal commas
test  want file:/usr/share/i18n/locales/de_DE locales glibc-locale-source glibc      -            test with decimal commas
check need cmd:clang        clang                 clang                clang         llvm         second compiler, sanitizers
check need sanitizer        libclang-rt-dev       compiler-rt          compiler-rt   llvm         sanitizers and fuzzing
check want cmd:clang-format clang-format          clang-tools-extra    clang         clang-format layout check
check want cmd:clang-tidy   clang-tidy            clang-tools-extra    clang         llvm         static analysis
check want cmd:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc - compiles for aarch64
check want cross:aarch64    libc6-dev-arm64-cross -                    aarch64-linux-gnu-glibc - compiles for aarch64
check want qemu             qemu-user-static      qemu-user-static     qemu-user-static -           make arm: runs what is compiled for aarch64
check want cmd:tclsh        tcl                   tcl                  tcl           tcl-tk       make macos, make dist: puts SQLite together for them
check want cmd:dpkg-source dpkg-dev           dpkg                 dpkg          dpkg         make macos, make dist: unpacks the libraries' sources
check want cmd:debootstrap debootstrap        debootstrap          debootstrap   -            make dist-test: old systems to run on
check want cmd:clang-19     clang-19              clang                clang         -            compiles kernels for AMD and Apple GPUs
check want file:/usr/include/amd_comgr.h libamd-comgr-dev rocm-comgr-devel   comgr         -            disassembles code for AMD GPUs
check want file:/usr/include/hip/hip_runtime_api.h libamdhip64-dev rocm-hip-devel hip-runtime-amd - the hip backend against its library
PARTS
}

compiler() {
    for c in "${CC:-cc}" gcc clang; do
        if command -v "$c" >/dev/null 2>&1; then
            echo "$c"
            return
        fi
    done
    return 1
}

has() {
    case $1 in
    cc) compiler >/dev/null ;;
    cmd:ninja) command -v ninja >/dev/null 2>&1 || command -v ninja-build >/dev/null 2>&1 ;;
    cmd:chromium) command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
        command -v google-chrome >/dev/null 2>&1 ;;
    cmd:*) command -v "${1#cmd:}" >/dev/null 2>&1 ;;
    pc:*) command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "${1#pc:}" ;;
    header:*) c=$(compiler) && echo "#include <${1#header:}>" | "$c" -E -xc - -DCL_TARGET_OPENCL_VERSION=300 >/dev/null 2>&1 ;;
    lib:*) { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -q "${1#lib:}" ;;
    icd) [ -n "${OCL_ICD_VENDORS:-}" ] || ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 ;;
    file:*) [ -e "${1#file:}" ] || [ -e "${1#file:}.gz" ] ;;
    qemu) command -v qemu-aarch64-static >/dev/null 2>&1 || command -v qemu-aarch64 >/dev/null 2>&1 ;;
    cross:*) [ -e "/usr/${1#cross:}-linux-gnu/include/stdio.h" ] ;;
    sanitizer) echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -fsanitize=fuzzer,address -xc -o "$work/fuzzer" - >/dev/null 2>&1 ;;
    esac
}

# Lines of parts() that are missing for the goal.
missing() {
    parts | while read -r part need check rest; do
        case "$goal $part" in "run test" | "run check" | "test check") continue ;; esac
        case "$(uname) $check" in "Darwin pc:hwloc") continue ;; esac # macOS itself tells of cores
        has "$check" || echo "$part $need $check $rest"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

apt_install() {
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null 2>&1; then
        echo "setup: not root, and there is no sudo; as root run:"
        echo "    apt-get install $(awk '{print $4}' "$work/missing" | sort -u | tr '\n' ' ')"
        return 1
    fi
    echo "setup: updating the package lists (apt-get update)"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update || echo "setup: the package lists could not be updated"
    names=
    while read -r _ _ _ deb _ _ _ why; do
        if apt-cache show "$deb" >/dev/null 2>&1; then
            echo "setup: to install: $deb ($why)"
            names="$names $deb"
        else
            echo "setup: this system has no package '$deb' ($why)"
        fi
    done <"$work/missing"
    [ -n "$names" ] || return 1
    echo "setup: installing (apt-get install$names)"
    # shellcheck disable=SC2086  # a list of names
    if as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $names >"$work/apt" 2>&1; then
        return 0
    fi
    tail -n 15 "$work/apt"
    echo "setup: not all could be installed at once; trying one by one"
    for name in $names; do
        as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$name" >"$work/apt" 2>&1 ||
            echo "setup: could not install $name: $(tail -n 1 "$work/apt")"
    done
}

list_missing() {
    echo "setup: missing here; packages by system:"
    printf '    %-28s %-24s %-22s %-22s %-16s %s\n' what Debian/Ubuntu Fedora Arch Homebrew for
    while read -r _ need check deb fedora arch brew why; do
        if [ "$need" = want ]; then why="$why (optional)"; fi
        printf '    %-28s %-24s %-22s %-22s %-16s %s\n' "${check#*:}" "$deb" "$fedora" "$arch" "$brew" "$why"
    done <"$work/missing"
}

# The lock file that npm leaves tells whether node_modules is that of package-lock.json. npm would empty what a link points to.
charts() {
    [ -f charts/package-lock.json ] || return 0
    [ ! -L charts/node_modules ] || return 0
    [ -z "$(find charts/node_modules/.package-lock.json -newer charts/package-lock.json 2>/dev/null)" ] || return 0
    if ! command -v npm >/dev/null 2>&1; then
        echo "setup: no npm: the report will have tables and no charts"
        return 0
    fi
    echo "setup: fetching the chart compiler into charts/node_modules (npm ci)"
    if ! (cd charts && npm ci --ignore-scripts --prefer-offline --fetch-retries=1 --no-audit --no-fund --loglevel=error); then
        echo "setup: npm failed: the report will have tables and no charts"
        rm -rf charts/node_modules
    fi
}

missing >"$work/missing"
if [ -s "$work/missing" ] && [ -e /etc/debian_version ] && command -v apt-get >/dev/null 2>&1; then
    apt_install
    missing >"$work/missing"
fi
charts
if [ -s "$work/missing" ]; then
    list_missing
    if grep -q ' need ' "$work/missing"; then
        echo "setup: cannot go on without what is missing and not optional"
        exit 1
    fi
    echo "setup: going on without what is optional"
fi
echo "setup: ready after $(($(date +%s) - began)) s"
