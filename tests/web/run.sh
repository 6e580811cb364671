#!/usr/bin/env bash
# Builds what runs in browsers, and takes every route to WebGPU through the same cases on SwiftShader, one line each: natively, wgpu in
# Chromium, the npm package in Chromium, the npm package on Dawn. Then it drives the pages.
#
#   tests/web/run.sh [--shots FOLDER]       pictures of the pages go to FOLDER
#
# On Debian it installs what is missing: node, npm, Chromium, and where there is no rustup, Debian's Rust for WebAssembly.
# SWIFTSHADER may name the driver's manifest.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
. "$root/web/toolchain.sh"

SWIFTSHADER=${SWIFTSHADER:-/usr/lib/chromium/vk_swiftshader_icd.json}

command -v node >/dev/null && command -v npm >/dev/null || install_debian nodejs npm
if [[ $(node -p 'const [major, minor] = process.versions.node.split("."); major * 100 + +minor') -lt 2012 ]]; then
    say "tests/web/run.sh: node $(node --version) is too old, 20.12 or later is needed"
    exit 1
fi
[[ -n ${CHROMIUM:-} ]] || command -v chromium >/dev/null || install_debian chromium

# on_swiftshader COMMAND...: Vulkan sees that driver only.
on_swiftshader() { VK_DRIVER_FILES=$SWIFTSHADER VK_ICD_FILENAMES=$SWIFTSHADER "$@"; }

log=$(mktemp) failed=$(mktemp)
trap 'wait; rm -f "$log" "$failed"' EXIT # no route goes on, or writes, behind the end

# route COMMAND...: runs it and keeps the lines that say how it went, and the command if it failed.
route() {
    "$@" </dev/null | tee -a "$log" || echo "$*" >>"$failed"
}

# native: the sample through the crate as it is.
native() {
    local begin=$SECONDS verdict=ok equal
    equal=$(on_swiftshader cargo test --manifest-path "$root/Cargo.toml" --all-features --test matrix -- --nocapture) ||
        verdict=FAILED
    equal=$(grep -oE '[0-9]+ of [0-9]+ cases bit-equal' <<<"$equal" || true) # tests in other threads print around it
    echo "wgpu on SwiftShader: ${equal:-no cases}, $((SECONDS - begin)) s: $verdict"
    [[ $verdict == ok ]]
}

# Two at a time: each computes mostly on one core, and so does what makes modules small.
cargo test --manifest-path "$root/Cargo.toml" --all-features --test matrix --no-run
route native &
"$root/examples/pages/build.sh" browser ocr
npm install --no-audit --no-fund --loglevel=error
tarball=$(cd "$root/web" && npm pack --silent --pack-destination "$target")
npm install --no-save --no-audit --no-fund --loglevel=error "$target/$tarball" # as its users get it
wasm_module wgmax-web-tests dist cases
wait
{
    route on_swiftshader node published.js "$target/$tarball"
    route on_swiftshader node dawn.js
    route node page.js "$@"
} &
route node chromium.js
route node ocr.js "$@"
wait

# One count for all: each route took the same cases.
counts=$(sed -n 's/.*: \([0-9]*\) of [0-9]* cases bit-equal.*/\1/p' "$log" | sort -u)
routes=$(grep -c 'cases bit-equal.*: ok$' "$log" || true)
failures=$(wc -l <"$failed")
printf '\n'
cat "$log"
echo "test result: $(grep -c ': ok$' "$log" || true) passed; $failures failed"
if [[ $failures -gt 0 || $routes -ne 4 || $(wc -l <<<"$counts") -ne 1 ]]; then
    say "tests/web/run.sh: $failures routes failed, $routes of 4 ran all cases"
    say "$(<"$failed")"
    exit 1
fi
