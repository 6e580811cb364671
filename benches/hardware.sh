#!/usr/bin/env bash
# A session with a GPU: measures what is to be known of it, and writes one report, OUT/report.md.
#
#   benches/hardware.sh OUT [--adapter NAME] [--share PERCENT] [--only-build]
#
# Unattended; at most 40 minutes once all is compiled, or the share of them that --share gives. No network: `cargo fetch` before,
# on a machine that has none. On a machine without a compiler: --only-build on another one, and OUT goes along. What is done
# stays in OUT, and the same line again goes on where it stopped; a step that failed, or ran out of its time, is tried again, and
# named in the report. PyTorch is measured on the same shapes where `python3` has it (PYTHON names another).
set -euo pipefail
shopt -s inherit_errexit # what fails within $(…) ends the script, too
here=$(cd "$(dirname "$0")" && pwd)
die() {
    printf '%s\n' "benches/hardware.sh: $*" >&2
    exit 1
}
[[ $# -gt 0 && $1 != -* ]] || die "a folder for the report is wanted: benches/hardware.sh OUT [--adapter NAME]"
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
adapter=() share=100 only_build=
while [[ $# -gt 0 ]]; do
    case $1 in
        --only-build)
            only_build=1
            shift
            continue
            ;;
        --adapter) adapter=(--adapter "${2:-}") ;;
        --share) share=${2:-} ;;
        *) die "${1@Q} is no option: --adapter NAME, --share PERCENT, --only-build" ;;
    esac
    [[ -n ${2:-} ]] || die "$1 takes a value"
    shift 2
done
[[ $share =~ ^[1-9][0-9]?$|^100$ ]] || die "--share takes a percentage from 1 to 100, not ${share@Q}"
cd "$here/.."
python=${PYTHON:-python3}
command -v "$python" >/dev/null || die "python3 is missing; it writes the report"

# The share of a number of seconds, or of problems.
part() {
    awk -v whole="$1" -v share="$share" 'BEGIN { print whole * share / 100 }'
}

# step NAME SECONDS COMMAND...: runs it once, for the share of so long at most; what it prints goes to OUT/NAME.txt.
step() {
    local name=$1 seconds begin=$SECONDS code=0
    seconds=$(part "$2")
    shift 2
    if [[ -e $out/$name.done ]]; then
        printf '%-16s done before\n' "$name"
        return
    fi
    printf '%-16s at most %s s …\n' "$name" "$seconds"
    timeout --kill-after=10 "$seconds" "$@" >"$out/$name.txt" 2>&1 || code=$?
    printf '%-16s %s s%s\n' "$name" $((SECONDS - begin)) "$([[ $code -eq 0 ]] || printf ', FAILED with %s' "$code")"
    rm -f "$out/$name.failed"
    if [[ $code -eq 0 ]]; then
        printf '%s\n' $((SECONDS - begin)) >"$out/$name.done"
    else
        printf '%s\n' "$code" >"$out/$name.failed"
    fi
}

# bench NAME SECONDS ARGUMENT...: rows of the workload bench, as OUT/NAME.jsonl.
bench() {
    step "$1" "$2" "$workloads" "${adapter[@]}" --json "$out/$1.jsonl" "${@:3}"
}

# torch NAME SECONDS ARGUMENT...: the same of PyTorch.
torch() {
    step "$1" "$2" "$python" "$here/peers/torch_timer.py" "${@:3}"
    grep '^{' "$out/$1.txt" >"$out/$1.jsonl" || true
}

# executable bench|example NAME: where it is in OUT/bin, built if need be.
executable() {
    local built=$out/bin/$2 compiled
    if [[ ! -e $built ]]; then
        printf 'compiling %s …\n' "$2" >&2
        mkdir -p "$out/bin"
        compiled=$(cargo --offline build --quiet --release --all-features "--$1" "$2" --message-format json-render-diagnostics |
            sed -n "s/.*\"name\":\"$2\".*\"executable\":\"\([^\"]*\)\".*/\1/p" | tail -1)
        [[ -n $compiled ]] || die "cargo built no executable $2"
        cp "$compiled" "$built"
    fi
    printf '%s\n' "$built"
}
workloads=$(executable bench workloads)
sweep=$(executable bench sweep)
calibrate=$(executable example calibrate)
gpu_model=$(executable example gpu_model)
[[ -z $only_build ]] || exit 0

cold=(--rotate 512)
families=$out/families.json
step families 60 "$sweep" --seed 20 --count "$(printf %.0f "$(part 150)")" --workloads "$families"

bench ceilings 60 --table ceilings
bench warm 150 --seconds "$(part 1)"
bench cold 210 --seconds "$(part 1)" "${cold[@]}"
# One number of the tuning changed, or a few that go together.
variants=()
while read -r _ tuning; do
    variants+=(--limits "{\"tuning\": {$tuning}}")
done <"$here/variants.txt"
bench variants 600 --seconds "$(part 0.2)" "${cold[@]}" "${variants[@]}"
bench families_warm 150 --workloads "$families" --seconds "$(part 0.3)"
bench families_cold 240 --workloads "$families" --seconds "$(part 0.3)" "${cold[@]}"
if "$python" -c 'import torch' 2>/dev/null; then
    torch torch_warm 150 --seconds "$(part 0.5)"
    torch torch_cold 210 --seconds "$(part 0.5)" "${cold[@]}"
    torch torch_families_cold 240 --workloads "$families" --seconds "$(part 0.2)" "${cold[@]}"
fi
# The device that was measured, by its whole name; where none was, what was asked for.
named=$(sed -n '/"adapter":"/ { s/.*"adapter":"\([^"]*\)".*/\1/p; q; }' "$out/ceilings.jsonl" 2>/dev/null) || named=
[[ -z $named ]] || adapter=(--adapter "$named")
step model 60 "$gpu_model" "${adapter[@]}" --json "$out/model.jsonl"
step calibrate 180 "$calibrate" "${adapter[@]}" --budget "$(part 60)" --out "$out/calibration.json"

"$python" "$here/peers/report.py" "$out" >"$out/report.md"
printf 'the report is %s\n' "$out/report.md"
