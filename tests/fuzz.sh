#!/usr/bin/env bash
# The fuzz targets, each from its corpus on, for a minute: planning, dialects, ONNX files of any bytes, and of few names.
# Besides answers they watch over memory, by an allocator that counts (tests/common/budget.rs), and over time.
#
#   tests/fuzz.sh [TARGET]...
#
# It takes cargo-fuzz (`cargo install --locked cargo-fuzz`) and a nightly toolchain. A finding is left in
# fuzz/artifacts; what is found becomes a test. No sanitizer: what is fuzzed has no unsafe code, and this is faster.
#
#   WGMAX_FUZZ_SECONDS=60   how long each target runs
#   WGMAX_FUZZ_RUNS=N       how many runs each target makes instead, such as 10000000
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(plan dialect onnx model)
# Comparisons are not traced, which would cost half of the time: no number has to be guessed, inputs are made of choices.
build=(--fuzz-dir . --sanitizer none --no-trace-compares)
cargo +nightly fuzz build "${build[@]}"
bound="-max_total_time=${WGMAX_FUZZ_SECONDS:-60}"
[[ -z ${WGMAX_FUZZ_RUNS:-} ]] || bound="-runs=$WGMAX_FUZZ_RUNS"
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
fuzz_target() {
    local target=$1
    mkdir -p "$new/$target"
    # What is new goes to the first folder; the corpus stays as it is committed.
    cargo +nightly fuzz run "${build[@]}" "$target" "$new/$target" "corpus/$target" -- \
        "$bound" -max_len=512 -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 2>&1
}
# As the tests' runners say it: one more has passed, or not.
told() {
    local outcome='ok. 1 passed; 0 failed'
    [[ $2 == 0 ]] || outcome='FAILED. 0 passed; 1 failed'
    printf 'test result: %s; %s\n' "$outcome" "$1"
}
# Two at a time, of which the second one's log comes after the first one's.
failures=0
for ((n = 0; n < ${#targets[@]}; n += 2)); do
    first=${targets[n]} second=${targets[n + 1]:-} code=0
    if [[ -n $second ]]; then
        fuzz_target "$second" >"$new/log" &
    fi
    fuzz_target "$first" || code=$?
    told "$first" "$code"
    failures=$((failures + (code != 0)))
    if [[ -n $second ]]; then
        code=0
        wait "$!" || code=$?
        cat "$new/log"
        told "$second" "$code"
        failures=$((failures + (code != 0)))
    fi
done
[[ $failures -eq 0 ]]
