# Sourced: what turns this workspace's crates into WebAssembly modules with JavaScript beside them.
#
# A rustup with the target wasm32-unknown-unknown is used where it is there or can be had. Without one, on Debian, its
# packages rustc-web, cargo-web, rust-web-src and lld do as well: they build the standard library too.

web=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=$(cargo metadata --manifest-path "$web/../Cargo.toml" --format-version 1 --no-deps |
    sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
wasm_target=wasm32-unknown-unknown

say() { printf '%s\n' "$*" >&2; }

# as_root COMMAND...: with what rights there are.
as_root() {
    if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo -n "$@"; fi
}

# install_debian PACKAGE...: those that are missing.
install_debian() {
    local package missing=()
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    say "installing ${missing[*]}"
    as_root apt-get update -qq </dev/null || say "apt-get update failed; trying with the package lists that are there"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
}

# The npm packages that building takes.
install_packages() { (cd "$web" && npm install --no-audit --no-fund --loglevel=error); }

has_wasm_target() { [[ -d $(rustc --print sysroot)/lib/rustlib/$wasm_target/lib ]]; }

# cargo_wasm ARGUMENT...: cargo for the target, with whatever toolchain has it. A panic does not say where in the source it
# was: that takes a compiler's option which is not stable yet, and makes the planner 3 % smaller.
cargo_wasm() {
    local -x RUSTC_BOOTSTRAP=1 RUSTFLAGS="${RUSTFLAGS:-} -Zlocation-detail=none"
    if has_wasm_target || rustup target add "$wasm_target" >/dev/null 2>&1; then
        cargo "$@" --target "$wasm_target"
        return
    fi
    install_debian rustc-web cargo-web rust-web-src rust-web-llvm lld-22
    PATH=/usr/bin:$PATH CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=rust-lld \
        cargo "$@" -Zbuild-std=std,panic_abort --target "$wasm_target"
}

# wasm_module CRATE FOLDER NAME: FOLDER/NAME.js and FOLDER/NAME_bg.wasm, made as small as they get.
wasm_module() {
    local crate=$1 folder=$2 name=$3
    cargo_wasm build --manifest-path "$web/../Cargo.toml" --package "$crate" --profile web
    cargo run --quiet --manifest-path "$web/../Cargo.toml" --package wgmax-bindgen -- \
        "$target/$wasm_target/web/${crate//-/_}.wasm" "$folder" "$name"
    "$web/node_modules/.bin/wasm-opt" -Oz --strip-debug --strip-producers "$folder/${name}_bg.wasm" -o "$folder/${name}_bg.wasm"
    say "$name: $(wc -c <"$folder/${name}_bg.wasm") bytes, $(gzip -9c "$folder/${name}_bg.wasm" | wc -c) with gzip"
}
