#!/usr/bin/env bash
# Builds the page into target/browser: files for any static server.
#
#   examples/browser/build.sh
set -euo pipefail
cd "$(dirname "$0")"
page=../../target/browser

../../web/build.sh
mkdir -p "$page"
rm -rf "$page/wgmax"
cp -r ../../web/dist "$page/wgmax"
cp index.html style.css ../data/galaxies.jpg ../../benches/workloads.json "$page"
../../web/node_modules/.bin/tsc
