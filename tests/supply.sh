#!/usr/bin/env bash
# What the crate is made of and what is published: licences, duplicates and advisories of its dependencies, and the package with
# the least versions that its manifest allows.
#
#   tests/supply.sh
#
# A step whose tool is missing is left out, which is no error: cargo-deny (`cargo install --locked cargo-deny`), a nightly
# toolchain for the least versions. Advisories need the network, for RustSec's database. The last lines say what was left out.
set -euo pipefail
cd "$(dirname "$0")/.."

left_out=()

if cargo deny --version >/dev/null 2>&1; then
    cargo deny --log-level error check licenses bans sources
    log=$(mktemp)
    if cargo deny --log-level error check advisories 2>"$log"; then
        :
    elif grep -q 'failed to fetch advisory database' "$log"; then
        left_out+=("advisories of dependencies: LEFT OUT, their database cannot be fetched")
    else
        cat "$log" >&2
        exit 1
    fi
    rm -f "$log"
else
    left_out+=("licences, duplicates and advisories of dependencies: LEFT OUT, cargo-deny is not installed")
fi

# What is published builds by itself, and with the least versions that its manifest allows: in a folder of its own, since the lock file
# is another.
if cargo +nightly --version >/dev/null 2>&1; then
    rm -f target/package/wgmax-[0-9]*.crate
    cargo package --quiet --allow-dirty --no-verify --target-dir target
    target=$PWD/target/least
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    crates=(target/package/wgmax-[0-9]*.crate)
    tar --extract --gzip --strip-components=1 --file="${crates[0]}" -C "$copy"
    (
        cd "$copy"
        cargo +nightly update --quiet -Z direct-minimal-versions
        export CARGO_TARGET_DIR=$target
        cargo check --quiet --lib --all-features
        cargo check --quiet --lib
    )
else
    cargo package --quiet --allow-dirty
    left_out+=("the least versions of dependencies: LEFT OUT, there is no nightly toolchain")
fi

[[ ${#left_out[@]} -eq 0 ]] || printf '%s\n' "${left_out[@]}"
