#!/bin/bash
# Measures a card part by part, the most valuable first: scripts/gpu/measure.sh [SECONDS]
# JSON lines go to $OUT/measure.jsonl, all messages to $OUT/measure.log. A part that fails or takes too long is noted,
# and the rest goes on; nothing begins after SECONDS (540). PARTS: a pattern of the parts that run. Needs the build, node, REFUSION_ONNXRUNTIME_DIR (docs/gpu.md),
# python3 with onnxruntime-gpu, onnx, torch and transformers, and 25 GB of memory for a random model.
set -u
cd "$(dirname "$0")/../.."
OUT=${OUT:-.}
END=$((SECONDS + ${1:-540}))
DIR=${MODEL_DIR:-/dev/shm/measure}
export REFUSION_DIST=${REFUSION_DIST:-$PWD/dist} PYTHONUNBUFFERED=1
mkdir -p "$DIR"

# part NAME LIMIT COMMAND...: runs a command for LIMIT seconds at most
part() {
  local name=$1 limit=$2 left=$((END - SECONDS)) began=$SECONDS rc
  shift 2
  [[ $name =~ ${PARTS:-.} ]] || return
  [ "$left" -lt "$limit" ] && limit=$left
  if [ "$limit" -lt 10 ]; then
    echo "{\"part\": \"$name\", \"skipped\": true}" >> "$OUT/measure.jsonl"
    return
  fi
  echo "== $name" >> "$OUT/measure.log"
  timeout -k 5 "$limit" "$@" >> "$OUT/measure.jsonl" 2>> "$OUT/measure.log"
  rc=$?
  echo "{\"ended\": \"$name\", \"rc\": $rc, \"seconds\": $((SECONDS - began))}" | tee -a "$OUT/measure.jsonl"
}
# turns lines of a peer into JSON strings
peer() { python3 scripts/gpu/peer.py "$1" | python3 -u -c 'import json, sys
for line in sys.stdin: print(json.dumps({"part": "peer", "line": line.strip()}), flush=True)'; }
export -f peer
phases() { node scripts/gpu/measure.mjs phases "$@"; }
export -f phases

nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,memory.used,power.limit --format=csv,noheader \
  | sed 's/.*/{"part": "card", "line": "&"}/' >> "$OUT/measure.jsonl" 2>> "$OUT/measure.log"
part products 45 python3 scripts/gpu/probes.py products
part host 30 python3 scripts/gpu/probes.py host
part agreement 45 node scripts/gpu/measure.mjs agreement
part layer 60 python3 scripts/gpu/probes.py layer
part phases-64-checkpointed 90 bash -c "phases $DIR/nf4 --checkpoint"
part phases-16-plain 75 bash -c "phases $DIR/nf4 --rounds 16"
part peer-eager 80 bash -c "peer eager"
part peer-layers 90 bash -c "peer layers"
part agreement-float32 30 env NVIDIA_TF32_OVERRIDE=0 node scripts/gpu/measure.mjs agreement
part phases-bf16 75 bash -c "phases $DIR/bf16 --quantize bf16 --repeats 1"
part peer-whole 150 bash -c "peer whole"
rm -rf "$DIR"
