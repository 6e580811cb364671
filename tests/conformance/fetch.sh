#!/usr/bin/env bash
# Fetches the onnx wheels that hold the official cases and unpacks their test data, nothing else, into
# target/conformance/WHEEL. Nothing of a wheel is installed or run, so it may be for any Python.
set -euo pipefail
cd "$(dirname "$0")/../.."
into=target/conformance

fetch() { # VERSION PYTHON PLATFORM...
    local version=$1 python=$2 platforms=()
    shift 2
    for platform in "$@"; do platforms+=(--platform "$platform"); done
    [ -d "$into/$version" ] && return
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --implementation cp --python-version "$python" "${platforms[@]}" --dest "$into/wheels" "onnx==$version"
    python3 - "$into" "$version" <<'PYTHON'
import glob, os, sys, zipfile

into, version = sys.argv[1:]
data = "onnx/backend/test/data/"
[wheel] = glob.glob(f"{into}/wheels/onnx-{version}-*.whl")
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(f"{into}/{version}.part", [name for name in archive.namelist() if name.startswith(data)])
os.rename(f"{into}/{version}.part/{data.rstrip('/')}", f"{into}/{version}")
PYTHON
    rm -r "${into:?}/$version.part"
}

fetch 1.7.0 3.8 manylinux1_x86_64
fetch 1.10.2 3.9 manylinux_2_12_x86_64
fetch 1.22.0 3.11 manylinux_2_27_x86_64 manylinux_2_28_x86_64

# Every case of these operators stands in the list.
found=$(cd "$into" && ls -d */node/test_{reduce_max,hardmax,max,argmax}_* */pytorch-operator/test_operator_max |
    grep -v maxpool | sed 's:/: :' | sort)
listed=$(grep -v '^#' tests/conformance/cases.txt | sed 's/^skip //' | cut -d' ' -f1,2 | sort)
diff <(echo "$listed") <(echo "$found") || { echo "tests/conformance/cases.txt is not what the wheels hold"; exit 1; }
