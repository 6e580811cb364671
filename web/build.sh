#!/usr/bin/env bash
# Builds the npm package into web/dist: the planner and the reference as WebAssembly, and the executor.
#
#   web/build.sh
set -euo pipefail
cd "$(dirname "$0")"
. ./toolchain.sh

install_packages
for module in planner reference; do
    wasm_module "wgmax-$module" dist/wasm "$module"
done
npx tsc
