#!/usr/bin/env bash
# Holds 5 000 random nodes of ONNX's against onnxruntime's CPU provider and ONNX's reference evaluator, and 1 000 of each
# other dialect's against OpenVINO and oneDNN. A peer that this machine cannot have is left out, and said: oneDNN's package
# is for Linux on x86-64.
#
#   tests/differential/run.sh [ONNX_RUN_OPTION...]      such as --backend cpu, or --adapter NAME
#
# COUNT sets another number of ONNX's nodes (and a fifth as many of the others'), SEED another choice of them; ONNX_RUN
# names a built onnx_run. With WGMAX_REQUIRE_ADAPTERS=1 a peer left out is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/differential venv=target/differential/venv
if ! cmp --silent "$here/requirements.txt" "$venv/requirements.txt"; then
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/requirements.txt" # only once all is there
fi
if [ -z "${ONNX_RUN:-}" ]; then
    cargo build --all-features --example onnx_run
    ONNX_RUN=${CARGO_TARGET_DIR:-target}/debug/examples/onnx_run
fi
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" "$here/differential.py" "$ONNX_RUN" "${COUNT:-5000}" "$@"
