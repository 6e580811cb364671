#!/usr/bin/env bash
# Builds the pages of examples into target/NAME: files for any static server.
#
#   examples/pages/build.sh NAME...       browser, ocr
set -euo pipefail
cd "$(dirname "$0")/.."

../web/build.sh
for name in "$@"; do
    page=$PWD/../target/$name
    rm -rf "$page"
    mkdir -p "$page"
    cp -r ../web/dist "$page/wgmax"
    cp pages/style.css "$name/index.html" "$name/own.css" "$page"
    "$name/files.sh" "$page"
    ../web/node_modules/.bin/tsc -p "$name" --outDir "$page"
done
