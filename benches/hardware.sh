#!/usr/bin/env bash
# A day with a GPU: measures what is to be known of it, and writes one report, OUT/report.md.
#
#   benches/hardware.sh OUT [--adapter NAME]
#
# Unattended; at most 40 minutes once all is compiled. No network: `cargo fetch` before, on a machine that has none. What is
# done stays in OUT, and the same line again goes on where it stopped; a step that failed, or ran out of its time, is tried
# again, and named in the report. PyTorch is measured on the same shapes where `python3` has it (PYTHON names another).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
die() {
    printf '%s\n' "benches/hardware.sh: $*" >&2
    exit 1
}
[[ $# -gt 0 && $1 != -* ]] || die "a folder for the report is wanted: benches/hardware.sh OUT [--adapter NAME]"
mkdir -p "$1"
out=$(cd "$1" && pwd)
adapter=()
case ${2:-} in
    "") ;;
    --adapter) [[ $# -eq 3 ]] && adapter=(--adapter "$3") || die "--adapter takes a name" ;;
    *) die "${2@Q} is no option: --adapter NAME" ;;
esac
cd "$here/.."
python=${PYTHON:-python3}
command -v "$python" >/dev/null || die "python3 is missing; it writes the report"

# step NAME SECONDS COMMAND...: runs it once, for so long at most; what it prints goes to OUT/NAME.txt.
step() {
    local name=$1 seconds=$2 begin=$SECONDS code=0
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

printf 'compiling …\n'
cargo=(cargo --offline)
"${cargo[@]}" --version >/dev/null
# executable bench|example NAME: builds it, and says where it is.
executable() {
    local kind=$1 name=$2 flag=--$1
    "${cargo[@]}" build --quiet --release --all-features "$flag" "$name" --message-format json |
        sed -n "s/.*\"name\":\"$name\".*\"executable\":\"\([^\"]*\)\".*/\1/p" | tail -1
}
workloads=$(executable bench workloads)
sweep=$(executable bench sweep)
calibrate=$(executable example calibrate)
gpu_model=$(executable example gpu_model)

cold=(--rotate 512)
families=$out/families.json
[[ -e $families ]] || "$sweep" --seed 20 --count 150 --workloads "$families" >/dev/null

bench ceilings 60 --table ceilings
bench warm 150 --seconds 1
bench cold 210 --seconds 1 "${cold[@]}"
bench families_warm 150 --workloads "$families" --seconds 0.3
bench families_cold 240 --workloads "$families" --seconds 0.3 "${cold[@]}"
named=$(sed -n 's/.*"adapter":"\([^"]*\)".*/\1/p' "$out/ceilings.jsonl" | head -1)
step model 60 "$gpu_model" --adapter "$named" --json "$out/model.jsonl"
step calibrate 180 "$calibrate" "${adapter[@]}" --budget 60 --out "$out/calibration.json"
# One number of the tuning at a time, on the workloads that it decides about; "-" is none.
while read -r name tuning only; do
    picked=()
    for workload in $only; do picked+=(--only "$workload"); done
    [[ $tuning != - ]] || tuning=
    bench "variant_$name" 60 --seconds 0.5 "${cold[@]}" --limits "{\"tuning\": {$tuning}}" "${picked[@]}"
done <"$here/variants.txt"
if "$python" -c 'import torch' 2>/dev/null; then
    torch torch_warm 150 --seconds 0.5
    torch torch_cold 210 --seconds 0.5 "${cold[@]}"
    torch torch_families_cold 240 --workloads "$families" --seconds 0.2 "${cold[@]}"
fi

"$python" "$here/peers/report.py" "$out" >"$out/report.md"
printf 'the report is %s\n' "$out/report.md"
