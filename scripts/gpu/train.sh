#!/bin/bash
# Trains for SECONDS at most and brings the adapter back: scripts/gpu/train.sh SECONDS OBJECTIVE CONFIG [key=value ...]
# $OUT/adapter is the adapter of the last checkpoint, $OUT/train.log the progress. The run itself stays in RUN_DIR
# ($OUT/run), and the same command resumes it. Needs the build and node; a card needs REFUSION_ONNXRUNTIME_DIR too.
# All of FormFactory's documents, long records included, in bfloat16 on a card of 80 GB:
#   scripts/gpu/train.sh 570 sft configs/formfactory/smollm2-documents-sft.yaml site.path=formfactory \
#     runtime.provider=cuda runtime.precision=bfloat16 training.steps=400 objective.batch_size=16 \
#     objective.pack_length=4096 sampler.prompt_length=1408 sampler.response_length=640 checkpoint.every=50
set -u
cd "$(dirname "$0")/../.."
OUT=${OUT:-.}
RUN_DIR=${RUN_DIR:-$OUT/run}
TRAIN="node ${REFUSION_DIST:-$PWD/dist}/src/cli/train.js"
seconds=$1 objective=$2 config=$3
shift 3
if [ -d "$RUN_DIR/checkpoints" ]; then
  call=("$objective" --resume --run-dir "$RUN_DIR")
else
  call=("$objective" --config "$config" --run-dir "$RUN_DIR" "$@")
fi
# SIGTERM ends a training after its step, with a checkpoint
timeout -s TERM -k 60 "$seconds" $TRAIN "${call[@]}" >> "$OUT/train.log" 2>&1
rc=$?
last=$(ls -d "$RUN_DIR"/checkpoints/step-* 2> /dev/null | tail -n 1)
if [ -z "$last" ]; then
  echo "no checkpoint was written (exit code $rc): $OUT/train.log says why" >&2
  exit 1
fi
mkdir -p "$OUT/adapter"
cp "$last"/*model.safetensors "$OUT/adapter/"
cp "$last"/adapter_config.json "$OUT/adapter/" 2> /dev/null # absent where all weights are trained
echo "{\"part\": \"train\", \"checkpoint\": \"$(basename "$last")\", \"rc\": $rc}"
