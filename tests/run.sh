#!/usr/bin/env bash
# Runs every test: those that need no GPU once, the others on each adapter found, the documentation's examples, and what
# runs in browsers and in node (tests/web/run.sh).
#
#   tests/run.sh
#
# On Debian and Ubuntu it installs what is missing: lavapipe (Mesa's software Vulkan) and, where the distribution has
# it, SwiftShader (it comes with the chromium package). That takes root, or sudo without a password; else it says what
# to install. With cargo-nextest it uses that.
#
#   WGMAX_REQUIRE_ADAPTERS=1   a missing adapter is an error (otherwise it is said, and counted)
#   WGMAX_FUZZ_SECONDS=60      how long each fuzz target runs, where cargo-fuzz and a nightly toolchain are there
set -euo pipefail
cd "$(dirname "$0")/.."

# Test binaries that need no GPU.
host_tests=(budgets plan shaders dialects onnx_hostile paper view)
# Those that tests/web/run.sh runs, beside the other routes that take the same cases.
route_tests=(matrix)

say() { printf '%s\n' "$*" >&2; }
die() {
    say "tests/run.sh: $*"
    exit 1
}

# The first file of these that exists.
first_file() {
    local file
    for file in "$@"; do
        if [[ -f $file ]]; then
            printf '%s\n' "$file"
            return
        fi
    done
}
lavapipe_icd() { first_file /usr/share/vulkan/icd.d/lvp_icd*.json /usr/local/share/vulkan/icd.d/lvp_icd*.json; }
swiftshader_icd() {
    local owned
    mapfile -t owned < <(dpkg -L chromium chromium-common 2>/dev/null | grep 'vk_swiftshader_icd\.json$' || true)
    first_file "${owned[@]}" /usr/lib/chromium/vk_swiftshader_icd.json
}
have_loader() { [[ -n $(first_file /usr/lib/*/libvulkan.so.1 /usr/lib/libvulkan.so.1 /usr/lib64/libvulkan.so.1) ]]; }

distribution() { (. /etc/os-release 2>/dev/null && printf '%s' "${ID:-}") || true; }

install_missing() {
    local packages=() as_root=()
    command -v cc >/dev/null || packages+=(gcc libc6-dev)
    have_loader || packages+=(libvulkan1)
    [[ -n $(lavapipe_icd) ]] || packages+=(mesa-vulkan-drivers)
    # For the cases and peers that come as Python packages.
    if ! python3 -c 'import ensurepip, pip, venv' 2>/dev/null; then
        packages+=(python3 python3-venv python3-pip)
    fi
    # Ubuntu's chromium package is a stub for a snap, without the file.
    [[ -n $(swiftshader_icd) || $(distribution) != debian ]] || packages+=(chromium)
    [[ ${#packages[@]} -gt 0 ]] || return 0
    if ! command -v apt-get >/dev/null; then
        say "no apt-get here; to run every test install what Debian calls: ${packages[*]}"
        return 0
    fi
    if [[ $(id -u) -ne 0 ]]; then
        if ! sudo -n true 2>/dev/null; then
            say "missing packages, run: sudo apt-get install --no-install-recommends ${packages[*]}"
            return 0
        fi
        as_root=(sudo -n)
    fi
    say "installing ${packages[*]}"
    "${as_root[@]}" apt-get update -qq </dev/null ||
        say "apt-get update failed; trying with the package lists that are there"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null >/dev/null ||
        say "could not install ${packages[*]}"
}

install_missing
command -v cargo >/dev/null || die "cargo is missing; install Rust from https://rustup.rs"
command -v cc >/dev/null || die "a C linker is missing; install gcc and libc6-dev"

if [[ -z ${XDG_RUNTIME_DIR:-} ]]; then
    XDG_RUNTIME_DIR=$(mktemp -d)
    export XDG_RUNTIME_DIR
    trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT
fi

if cargo nextest --version >/dev/null 2>&1; then
    runner=nextest
    say "runner: cargo nextest"
else
    runner=test
    say "runner: cargo test (cargo-nextest is not installed)"
fi

gpu_tests=()
for file in tests/*.rs; do
    name=$(basename "$file" .rs)
    [[ " ${host_tests[*]} ${route_tests[*]} " == *" $name "* ]] || gpu_tests+=("$name")
done

log=$(mktemp)
report=()
failures=0
missing=0

# route NAME COMMAND...: runs it, and notes how many tests passed and failed.
route() {
    local name=$1 begin=$SECONDS outcome=ok
    shift
    say "--- $name: $*"
    "$@" </dev/null 2>&1 | tee "$log" || outcome=FAILED
    [[ $outcome == ok ]] || failures=$((failures + 1))
    # "test result: ok. 3 passed; 0 failed; …" of cargo test, "Summary [ 1.2s] 3 tests run: 3 passed, 0 skipped" of nextest.
    local counts
    counts=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | awk '
        /^test result:|^ *Summary \[/ {
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^passed/) passed += $(i - 1)
                if ($i ~ /^failed/) failed += $(i - 1)
                if ($i ~ /^timed/) failed += $(i - 1)
            }
        }
        END { printf "%d passed, %d failed", passed, failed }')
    if [[ $outcome == ok && $counts == "0 passed"* ]]; then
        outcome="FAILED (no test ran)"
        failures=$((failures + 1))
    fi
    report+=("$name: $counts, $((SECONDS - begin)) s: $outcome")
}

absent() {
    missing=$((missing + 1))
    say "--- $1: LEFT OUT, $2"
    report+=("$1: LEFT OUT, $2")
}

# cargo_test ARGUMENT...: the test binaries named.
cargo_test() {
    if [[ $runner == nextest ]]; then
        cargo nextest run --all-features --no-fail-fast "$@"
    else
        cargo test --all-features --no-fail-fast "$@"
    fi
}

# with_driver ICD COMMAND...: Vulkan sees that driver only. Old loaders know the second name.
with_driver() {
    local icd=$1
    shift
    VK_DRIVER_FILES=$icd VK_ICD_FILENAMES=$icd "$@"
}

named() { printf -- '--test\n%s\n' "$@"; }
mapfile -t host_arguments < <(named "${host_tests[@]}")
mapfile -t gpu_arguments < <(named "${gpu_tests[@]}")

route "no GPU" cargo_test --lib "${host_arguments[@]}"
route "documentation" cargo test --all-features --doc

if cargo fuzz --version >/dev/null 2>&1 && cargo +nightly --version >/dev/null 2>&1; then
    route "fuzz targets" tests/fuzz.sh
else
    report+=("fuzz targets: LEFT OUT, cargo-fuzz or a nightly toolchain is missing")
fi

icd=$(lavapipe_icd)
if [[ -n $icd ]] && have_loader; then
    route "lavapipe" with_driver "$icd" cargo_test "${gpu_arguments[@]}"
    route "lavapipe, ONNX's cases" with_driver "$icd" tests/conformance/run.sh
    route "lavapipe, random nodes against peers" with_driver "$icd" tests/differential/run.sh
else
    absent "lavapipe" "no driver found (Debian and Ubuntu: libvulkan1 and mesa-vulkan-drivers)"
fi
icd=$(swiftshader_icd)
if [[ -n $icd ]] && have_loader; then
    route "SwiftShader" with_driver "$icd" cargo_test "${gpu_arguments[@]}"
    route "SwiftShader, ONNX's cases" with_driver "$icd" tests/conformance/run.sh
else
    absent "SwiftShader" "no driver found (Debian: chromium; Ubuntu has no package with it)"
fi
# Browsers, node, and the crate itself through the same cases.
if [[ -n $icd && -n $(lavapipe_icd) ]] && have_loader; then
    LAVAPIPE=$(lavapipe_icd) SWIFTSHADER=$icd route "browsers and node" tests/web/run.sh
    mapfile -t lines < <(sed -n '/^$/,$p' "$log" | grep -E ': (ok|FAILED)$' || true)
    report+=("${lines[@]/#/    }")
else
    absent "browsers and node" "they need Chromium with SwiftShader, and lavapipe beside it"
fi
# Hardware, where there is some: whatever adapter the tests pick when they may see all.
if [[ -e /dev/nvidiactl ]] || compgen -G '/dev/dri/renderD*' >/dev/null; then
    route "default adapter" cargo_test "${gpu_arguments[@]}"
fi
rm -f "$log"

printf '\n'
printf '%s\n' "${report[@]}"
if [[ $missing -gt 0 ]]; then
    printf '%s\n' "$missing of the adapters missing"
    [[ ${WGMAX_REQUIRE_ADAPTERS:-} != 1 ]] || failures=$((failures + missing))
fi
[[ $failures -eq 0 ]] || die "$failures routes failed"
