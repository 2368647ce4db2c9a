#!/bin/sh
# Measures this machine with the quick suite and writes report.html. Rejected or failed cells (exit 4) are a result, not an error.
set -u
cd "$(dirname "$0")/.." || exit 1
assay=${BUILD:-build}/assay
"$assay" run quick --report report.html
code=$?
case $code in
0) ;;
4) echo "Some cells were rejected, failed, crashed or timed out, or a device was lost: see 'assay show'." ;;
*) exit "$code" ;;
esac
case $assay in
/*) echo "Program: $assay" ;;
*) echo "Program: $(pwd)/$assay" ;;
esac
echo "Report:  $(pwd)/report.html"
echo "Store:   ${ASSAY_STORE:-${XDG_DATA_HOME:-$HOME/.local/share}/assay/assay.db}"
