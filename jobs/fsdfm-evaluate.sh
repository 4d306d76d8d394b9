#!/bin/sh
# Evaluates what fsdfm-train.sh has trained, on held-out forms:
#   sh fsdfm-evaluate.sh RUN_DIR [key=value ...]
set -eu
run=$1
shift
exec npx refusion-eval --run "$run" --checkpoint last --split heldout "$@"
