#!/usr/bin/env bash
# The fuzz targets, each from its corpus on, for a minute: planning, dialects, ONNX files.
#
#   tests/fuzz.sh [TARGET]...
#
# It takes cargo-fuzz (`cargo install --locked cargo-fuzz`) and a nightly toolchain. A finding is left in
# fuzz/artifacts; what is found becomes a test. No sanitizer: what is fuzzed has no unsafe code, and this is faster.
#
#   WGMAX_FUZZ_SECONDS=60   how long each target runs
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(plan dialect onnx)
cargo +nightly fuzz build --fuzz-dir . --sanitizer none
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
for target in "${targets[@]}"; do
    mkdir -p "$new/$target"
    # What is new goes to the first folder; the corpus stays as it is committed.
    cargo +nightly fuzz run --fuzz-dir . --sanitizer none "$target" "$new/$target" "corpus/$target" -- \
        -max_total_time="${WGMAX_FUZZ_SECONDS:-60}" -max_len=512 -timeout=10 -print_final_stats=1 -verbosity=0
    # As the tests' runners say it: one more has passed.
    printf 'test result: ok. 1 passed; 0 failed; %s\n' "$target"
done
