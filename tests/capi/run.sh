#!/usr/bin/env bash
# Tests the C library: its own tests, then the hosts in capi/examples, as they are and through the sample of cases that
# every way to WebGPU takes. They run on the wgpu-native that PyPI's wgpu brings, with its webgpu.h; VK_DRIVER_FILES says on
# which adapter.
#
#   tests/capi/run.sh
#
# It takes a C compiler, Python and cJSON (Debian's libcjson-dev).
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/capi target=${CARGO_TARGET_DIR:-target} venv=target/capi/venv
if ! cmp --silent "$here/requirements.txt" "$venv/requirements.txt"; then
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/requirements.txt" # only once all is there
fi
export PYTHONDONTWRITEBYTECODE=1

# Together, since what is built apart has other features, and would be compiled once more.
packages=(--package wgmax-capi --package wgmax-capi-tests)
cargo build "${packages[@]}" --all-targets
cargo test "${packages[@]}"
"$target/debug/wgmax-capi-tests" target/capi/cases

# host.c with the static library as a program, and with the shared one for the cases.
webgpu=$(compgen -G "$PWD/$venv/lib/python*/site-packages/wgpu/resources")
native=$(compgen -G "$webgpu/libwgpu_native*")
library=$target/debug/libwgmax_capi
host_c() {
    cc -std=c11 -O1 -Wall -Wextra -Werror -I capi/include -I "$webgpu" capi/examples/host.c "$@" \
        "$native" -Wl,-rpath,"$webgpu" -lcjson -lpthread -ldl -lm
}
host_c "$library.a" -o target/capi/host
host_c -shared -fPIC "$library.so" -Wl,-rpath,"$(realpath "$target/debug")" -o target/capi/host.so

passed=0 failed=0
# check COMMAND...: whether it goes well.
check() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}
# answers TEXT COMMAND...: whether it goes well, and the last line that it prints is this.
answers() {
    local last
    last=$("${@:2}" | tail -n 1) || { echo "$2 fails after ${last@Q}" && return 1; }
    [[ $last == "$1" ]] || { echo "$2 answers ${last@Q}, expected ${1@Q}" && return 1; }
}
# refuses TEXT COMMAND...: whether it fails, and the last line of what it says is this.
refuses() {
    local said
    ! said=$("${@:2}" 2>&1) || { echo "${*:2} goes well, expected ${1@Q}" && return 1; }
    [[ ${said##*$'\n'} == "$1" ]] || { echo "${*:2} fails with ${said@Q}, expected ${1@Q}" && return 1; }
}
run_cases() { "$venv/bin/python" "$here/cases.py" "$1" "${2:-target/capi/cases}" "$library.so"; }

check answers "i64: 1 2" target/capi/host
check answers " [nan  5.  6.]] has its maxima at [1 0]" "$venv/bin/python" capi/examples/host.py "$library.so"
check run_cases capi/examples/host.py
check run_cases target/capi/host.so

# An input of six elements, to be written over, of which one is there.
operation='{"Max": {"dtype": "f32", "inputs": [{"shape": [6]}], "in_place": 0}}'
printf '{"name": "too short", "operation": %s, "adapter": "hardware", "inputs": [4], "expected": [0]}\n1234' "$operation" \
    >target/capi/too_short
check refuses "ValueError: input 0 has 4 bytes, 24 expected" run_cases capi/examples/host.py target/capi/too_short
check refuses "inputs: one has too few bytes" run_cases target/capi/host.so target/capi/too_short
echo "test result: $passed passed; $failed failed"
[[ $failed -eq 0 ]]
