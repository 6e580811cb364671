#!/usr/bin/env bash
# Builds all that is here, which takes half an hour on two cores the first time, runs the tests and the example on the adapter
# that Vulkan's loader shows.
#
#   integrations/burn/run.sh [--features fusion]   # with burn's fusion backend; that compiles much of burn once more
set -euo pipefail
cd "$(dirname "$0")"
cargo test --locked "$@"
cargo run --locked "$@" --example greedy
