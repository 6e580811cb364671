#!/usr/bin/env bash
# files.sh FOLDER: what the page takes beside its own sources.
set -euo pipefail
cd "$(dirname "$0")"
cp ../data/galaxies.jpg ../../benches/workloads.json "$1"
