#!/usr/bin/env bash
# Builds the page and serves it on this computer.
#
#   examples/browser/serve.sh [PORT]
set -euo pipefail
cd "$(dirname "$0")"
./build.sh
exec node serve.js ../../target/browser "${1:-8080}"
