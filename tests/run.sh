#!/usr/bin/env bash
# Runs the tests, by routes: a route is a set of tests and where they run.
#
#   tests/run.sh                   for a first look, minutes on two cores with compiling: host, documentation, lavapipe
#   tests/run.sh --all             every route but mpi and burn: what has to pass before a change goes in
#   tests/run.sh --only ROUTE...   these routes
#   tests/run.sh --list            the routes' names, and what each of them is
#
# On one's own GPU the tests run with `cargo test`. Here they run on software: lavapipe is Mesa's Vulkan, SwiftShader
# comes with Debian's chromium. On Debian and Ubuntu what the routes need is installed where it is missing, which takes
# root, or sudo without a password; else it is said what to install. cargo-nextest is used where it is there; cargo-fuzz
# is built into target/tools where there is a nightly toolchain.
#
#   WGMAX_REQUIRE_ADAPTERS=1   what a route lacks is an error, but for a GPU and an MPI (otherwise it is said, and counted)
#   WGMAX_FUZZ_SECONDS=60      how long each fuzz target runs
#   WGMAX_SECONDS=60           how long the generator of random operations runs on each adapter, with --all
#   WGMAX_MUTATIONS=20000      how many plans are mutated on each adapter, with --all
set -euo pipefail
if ((BASH_VERSINFO[0] < 5)); then
    echo "tests/run.sh: bash ${BASH_VERSION}, 5 or later is needed (macOS: brew install bash)" >&2
    exit 1
fi
cd "$(dirname "$0")/.."

# Each route's name and what it is. `route_NAME` runs it.
list="host              the planner, dialects, ONNX files, checkpoints, the CPU reference: what needs no GPU
documentation     the examples in the documentation
paper             whole plans, their shaders interpreted with every access checked and counted: minutes, and no GPU
lavapipe          the operators on lavapipe: every type, axis, layout and edge value
lavapipe_more     the other GPU tests on lavapipe: sizes at limits, random operations, faults, load
lavapipe_onnx     ONNX's own node tests on lavapipe, and on the CPU reference
peers             random nodes on lavapipe, against ONNX Runtime, ONNX's evaluator, OpenVINO and oneDNN
swiftshader       every GPU test on SwiftShader
swiftshader_onnx  ONNX's own node tests on SwiftShader, and on the CPU reference
web               the same cases on every way to WebGPU: native, Chromium, node on Dawn; and the examples' pages
capi              the C library, and the same cases through its hosts in Python and C, on lavapipe
amd               every shader planned for GPUs through AMD's compiler, which needs no GPU: registers, spills, instructions
hardware          every GPU test on this machine's own GPU
fuzz              the fuzz targets, for WGMAX_FUZZ_SECONDS each
mpi               reductions over 1 to 4 ranks of an MPI job, on lavapipe: only by its name
burn              the operators on tensors of burn, on lavapipe and SwiftShader: only by its name"
mapfile -t every < <(awk '{ print $1 }' <<<"$list")
# One installs an MPI and builds wgpu once more, the other builds all of burn, which takes half an hour.
apart=(mpi burn)
first_look=(host documentation lavapipe)
[[ $(uname) == Linux ]] || first_look=(host documentation hardware)

# Test binaries that need no GPU.
host_tests=(budgets checkpoint modules plan shaders dialects onnx_hostile view)
# Of those that compare answers, each operator's own. Whatever is not named here takes a GPU, too.
operator_tests=(arg_max:: hardmax:: max:: reduce_max::)
# Those of other routes: tests/web/run.sh runs the matrix, beside the other ways that take the same cases.
other_tests=(answers paper gpu_model matrix)

say() { printf '%s\n' "$*" >&2; }
die() {
    say "tests/run.sh: $*"
    exit 1
}
# within WORD LIST...: whether the list has the word.
within() {
    local word=$1
    shift
    [[ " $* " == *" $word "* ]]
}

selected=("${first_look[@]}")
case ${1:-} in
    "") [[ $# -eq 0 ]] || die "an empty argument" ;;
    --all)
        selected=()
        for name in "${every[@]}"; do
            within "$name" "${apart[@]}" || selected+=("$name")
        done
        [[ $# -eq 1 ]] || die "--all takes no more arguments"
        export WGMAX_SECONDS=${WGMAX_SECONDS:-60} WGMAX_MUTATIONS=${WGMAX_MUTATIONS:-20000}
        ;;
    --only)
        selected=("${@:2}")
        [[ $# -gt 1 ]] || die "--only takes the names of routes, ${every[*]}"
        for name in "${selected[@]}"; do
            within "$name" "${every[@]}" || die "no route ${name@Q}, there are ${every[*]}"
        done
        ;;
    --list)
        printf '%s\n' "$list"
        exit
        ;;
    *) die "${1@Q} is no option: --all, --only ROUTE..., --list, or none" ;;
esac

# What is here, and what is installed.

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
radeon_icd() { first_file /usr/share/vulkan/icd.d/radeon_icd*.json /usr/local/share/vulkan/icd.d/radeon_icd*.json; }
swiftshader_icd() {
    local owned
    mapfile -t owned < <(dpkg -L chromium chromium-common 2>/dev/null | grep 'vk_swiftshader_icd\.json$' || true)
    first_file "${owned[@]}" /usr/lib/chromium/vk_swiftshader_icd.json
}
have_loader() { [[ -n $(first_file /usr/lib/*/libvulkan.so.1 /usr/lib/libvulkan.so.1 /usr/lib64/libvulkan.so.1) ]]; }
have_cjson() { [[ -f /usr/include/cjson/cJSON.h || -f /usr/local/include/cjson/cJSON.h ]]; }
have_nightly() { cargo +nightly --version >/dev/null 2>&1; }
have_fuzz() { cargo fuzz --version >/dev/null 2>&1; }

distribution() { (. /etc/os-release 2>/dev/null && printf '%s' "${ID:-}") || true; }

# select_any ROUTE...: whether one of these is selected.
select_any() {
    local name
    for name in "$@"; do
        ! within "$name" "${selected[@]}" || return 0
    done
    return 1
}

missing_packages() {
    command -v cc >/dev/null || printf '%s\n' gcc libc6-dev
    if select_any lavapipe lavapipe_more lavapipe_onnx peers swiftshader swiftshader_onnx web mpi burn capi amd; then
        have_loader || printf '%s\n' libvulkan1
    fi
    if select_any lavapipe lavapipe_more lavapipe_onnx peers mpi burn capi; then
        [[ -n $(lavapipe_icd) ]] || printf '%s\n' mesa-vulkan-drivers
    fi
    if select_any amd; then
        [[ -n $(radeon_icd) ]] || printf '%s\n' mesa-vulkan-drivers
    fi
    if select_any fuzz; then
        command -v c++ >/dev/null || printf '%s\n' g++ # which builds libFuzzer
    fi
    # For the cases, peers and hosts that take Python packages.
    if select_any lavapipe_onnx peers swiftshader_onnx capi; then
        python3 -c 'import ensurepip, pip, venv' 2>/dev/null || printf '%s\n' python3 python3-venv python3-pip
    fi
    if select_any capi; then
        have_cjson || printf '%s\n' libcjson-dev
    fi
    # Ubuntu's chromium package is a stub for a snap, without the file.
    if select_any swiftshader swiftshader_onnx web burn; then
        [[ -n $(swiftshader_icd) || $(distribution) != debian ]] || printf '%s\n' chromium
    fi
}

install_missing() {
    local packages as_root=()
    mapfile -t packages < <(missing_packages)
    [[ ${#packages[@]} -gt 0 ]] || return 0
    if ! command -v apt-get >/dev/null; then
        say "no apt-get here; to run these routes install what Debian calls: ${packages[*]}"
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
export PATH=$PWD/target/tools/bin:$PATH
export RUST_LIB_BACKTRACE=0 # wgpu's debug builds would capture one for every lock that they take, where RUST_BACKTRACE is 1

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
log=$scratch/log
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$scratch} # Vulkan's loader and Mesa ask for one

if cargo nextest --version >/dev/null 2>&1; then
    runner=nextest
    say "runner: cargo nextest"
else
    runner=test
    say "runner: cargo test (cargo-nextest is not installed)"
fi

more_tests=()
for file in tests/*.rs; do
    name=$(basename "$file" .rs)
    within "$name" "${host_tests[@]}" "${other_tests[@]}" || more_tests+=("$name")
done

report=()
failures=0
missing=0

# run NAME COMMAND...: runs it, and notes how many tests passed and failed.
run() {
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
    # What a route itself leaves out, it says in lines of its own.
    mapfile -t lines < <(grep '^LEFT OUT' "$log" || true)
    report+=("${lines[@]/#/    }")
}

absent() {
    missing=$((missing + 1))
    say "--- $1: LEFT OUT, $2"
    report+=("$1: LEFT OUT, $2")
}

# cargo_test ARGUMENT...: what cargo's arguments name.
cargo_test() {
    if [[ $runner == nextest ]]; then
        cargo nextest run --all-features --no-fail-fast "$@"
    else
        cargo test --all-features --no-fail-fast "$@"
    fi
}
# tests NAME...: the test programs of these names.
tests() { cargo_test "${@/#/--test=}"; }
# answers ARGUMENT...: those that compare answers, in one process whatever the runner: a test takes over what others compiled.
answers() { cargo test --all-features --test answers -- "$@"; }
# with_others ARGUMENT...: the same, and then all other programs that take a GPU.
with_others() {
    local outcome=0
    answers "$@" || outcome=1
    tests "${more_tests[@]}" || outcome=1
    return $outcome
}

# with_driver ICD COMMAND...: Vulkan sees that driver only. Old loaders know the second name.
with_driver() {
    local icd=$1
    shift
    VK_DRIVER_FILES=$icd VK_ICD_FILENAMES=$icd "$@"
}
# on_driver ICD REASON ROUTE COMMAND...: the route on that driver, or for what reason it is left out.
on_driver() {
    local icd=$1 reason=$2 name=$3
    shift 3
    if [[ -n $icd ]] && have_loader; then
        run "$name" with_driver "$icd" "$@"
    else
        absent "$name" "$reason"
    fi
}
on_lavapipe() {
    on_driver "$(lavapipe_icd)" "no lavapipe found (Debian and Ubuntu: libvulkan1 and mesa-vulkan-drivers)" "$@"
}
on_swiftshader() {
    on_driver "$(swiftshader_icd)" "no SwiftShader found (Debian: chromium; Ubuntu has no package with it)" "$@"
}

# The routes.

route_host() { run host cargo_test --lib "${host_tests[@]/#/--test=}"; }
route_paper() { run paper tests paper gpu_model; }
route_documentation() { run documentation cargo test --all-features --doc; }
# Without LLVM's passes: compiling is what these tests take their time for. With them, as for users' programs, go lavapipe_onnx, mpi and burn.
unoptimised() { GALLIVM_PERF=${GALLIVM_PERF-nopt} "$@"; }
route_lavapipe() { unoptimised on_lavapipe lavapipe answers "${operator_tests[@]}"; }
route_lavapipe_more() { unoptimised on_lavapipe lavapipe_more with_others "${operator_tests[@]/#/--skip=}"; }
route_lavapipe_onnx() { on_lavapipe lavapipe_onnx tests/conformance/run.sh; }
route_peers() { unoptimised on_lavapipe peers tests/differential/run.sh; }
route_swiftshader() { on_swiftshader swiftshader with_others; }
route_swiftshader_onnx() { on_swiftshader swiftshader_onnx tests/conformance/run.sh; }

route_web() {
    local swiftshader lines
    swiftshader=$(swiftshader_icd)
    if [[ -z $swiftshader ]] || ! have_loader; then
        absent web "it needs Chromium with SwiftShader"
        return
    fi
    SWIFTSHADER=$swiftshader run web tests/web/run.sh
    mapfile -t lines < <(sed -n '/^$/,$p' "$log" | grep -E ': (ok|FAILED)$' || true)
    report+=("${lines[@]/#/    }")
}

route_capi() {
    local lavapipe lines
    lavapipe=$(lavapipe_icd)
    if [[ -z $lavapipe ]] || ! have_loader || ! have_cjson; then
        absent capi "it needs lavapipe and cJSON (Debian and Ubuntu: libvulkan1, mesa-vulkan-drivers and libcjson-dev)"
        return
    fi
    unoptimised run capi with_driver "$lavapipe" tests/capi/run.sh
    mapfile -t lines < <(grep -E 'cases bit-equal.*: (ok|FAILED)$' "$log" || true)
    report+=("${lines[@]/#/    }")
}

# Not by nextest, which keeps what a test says that passes: here, that the table is another compiler's. Beside wgmax with all features:
# what is built apart has others, and would be compiled once more.
route_amd() {
    on_driver "$(radeon_icd)" "no RADV found (Debian and Ubuntu: libvulkan1 and mesa-vulkan-drivers)" amd \
        cargo test --package wgmax --package wgmax-amd-tests --all-features --lib --test coverage --test table --no-fail-fast
}

# Whatever adapter the tests pick when they may see all. A machine without a GPU is good for all other routes, so this is not
# counted as missing.
route_hardware() {
    if [[ $(uname) != Linux || -e /dev/nvidiactl ]] || compgen -G '/dev/dri/renderD*' >/dev/null; then
        run hardware with_others
    else
        report+=("hardware: LEFT OUT, this machine has no GPU")
    fi
}

route_fuzz() {
    if ! have_nightly; then
        absent fuzz "there is no nightly toolchain (rustup toolchain install nightly)"
        return
    fi
    have_fuzz || cargo install --quiet --locked --root target/tools cargo-fuzz@0.13.2 ||
        say "could not install cargo-fuzz"
    if have_fuzz; then
        run fuzz tests/fuzz.sh
    else
        absent fuzz "cargo-fuzz is missing (cargo install --locked cargo-fuzz)"
    fi
}

# A machine where no MPI can be had is nobody's fault, so this is not counted as missing.
route_mpi() {
    local code=0
    integrations/mpi/run.sh --install || code=$?
    case $code in
        77) report+=("mpi: LEFT OUT, no MPI is here, and none could be installed") ;;
        *) on_lavapipe mpi integrations/mpi/run.sh ;;
    esac
}

route_burn() {
    on_lavapipe burn integrations/burn/run.sh
    on_swiftshader "burn on SwiftShader" integrations/burn/run.sh
}

for name in "${selected[@]}"; do
    "route_$name"
done

printf '\n'
printf '%s\n' "${report[@]}"
printf 'in all %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
others=()
for name in "${every[@]}"; do
    within "$name" "${selected[@]}" || others+=("$name")
done
if [[ ${#others[@]} -gt 0 ]]; then
    printf '%s\n' "not run: ${others[*]} (tests/run.sh --list says what they are, --all runs all but ${apart[*]})"
fi
if [[ $missing -gt 0 ]]; then
    printf '%s\n' "$missing routes lack what they need"
    [[ ${WGMAX_REQUIRE_ADAPTERS:-} != 1 ]] || failures=$((failures + missing))
fi
[[ $failures -eq 0 ]] || die "$failures routes failed"
