#!/bin/sh
# Measures this machine with the quick suite and writes report.html. Untrusted cells (exit 4) are a result, no error.
set -u
cd "$(dirname "$0")/.." || exit 1
assay=${BUILD:-build}/assay
"$assay" run quick --report report.html
code=$?
case $code in
0) ;;
4) echo "Some numbers are untrusted: a gate failed, see 'assay show'. The page marks them." ;;
*) exit "$code" ;;
esac
case $assay in
/*) echo "Program: $assay" ;;
*) echo "Program: $(pwd)/$assay" ;;
esac
echo "Report:  $(pwd)/report.html"
echo "Store:   ${ASSAY_STORE:-${XDG_DATA_HOME:-$HOME/.local/share}/assay/assay.db}"
