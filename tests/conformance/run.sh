#!/usr/bin/env bash
# Runs every listed official case on the CPU reference and on the GPU, and prints the passes by wheel and operator.
#
#   tests/conformance/run.sh [ADAPTER...]
#
# Each ADAPTER is part of an adapter's name; without one the best adapter there is. ONNX_RUN names a built onnx_run.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/conformance/fetch.sh
if [ -z "${ONNX_RUN:-}" ]; then
    cargo build --all-features --example onnx_run
    ONNX_RUN=${CARGO_TARGET_DIR:-target}/debug/examples/onnx_run
fi

backends=("--backend=cpu")
for adapter in "$@"; do backends+=("--adapter=$adapter"); done
[ $# -gt 0 ] || backends+=("--backend=gpu")
list=tests/conformance/cases.txt
outcome=0 passed=0
grep '^skip' "$list" || echo "no case is skipped"
for backend in "${backends[@]}"; do
    for wheel in $(grep -v -e '^#' -e '^skip' "$list" | cut -d' ' -f1 | sort -uV); do
        folders=$(awk -v wheel="$wheel" '$1 == wheel { print "target/conformance/" wheel "/" $2 }' "$list")
        # shellcheck disable=SC2086  # one word each: the folders
        report=$("$ONNX_RUN" "${backend%%=*}" "${backend#*=}" $folders) || outcome=1
        passed=$((passed + $(grep -c '^pass' <<<"$report" || true)))
        grep -v -e '^pass' <<<"$report" | sed '$d' || true # the last line is the count
        awk -v backend="${backend#*=}" -v wheel="$wheel" '
            /^pass/ && $2 ~ /^test_reduce_max/ { passed["ReduceMax"]++ }
            /^pass/ && $2 ~ /^test_argmax/ { passed["ArgMax"]++ }
            /^pass/ && $2 ~ /^test_hardmax/ { passed["Hardmax"]++ }
            /^pass/ && $2 ~ /^test_(operator_)?max/ { passed["Max"]++ }
            /^pass/ { total++ }
            END { printf "%-12s onnx %-7s ReduceMax %2d  ArgMax %2d  Hardmax %2d  Max %2d   total %d\n", backend, wheel,
                  passed["ReduceMax"], passed["ArgMax"], passed["Hardmax"], passed["Max"], total }' <<<"$report"
    done
done
listed=$(($(grep -c -v -e '^#' -e '^skip' "$list") * ${#backends[@]}))
[ "$passed" -eq "$listed" ] || outcome=1
echo "test result: $passed passed; $((listed - passed)) failed"
exit $outcome
