#!/bin/sh
# Evaluates what refusion-train.sh has trained, on held-out forms:
#   sh refusion-evaluate.sh RUN_DIR [key=value ...]
set -eu
run=$1
shift
exec npx refusion-eval --run "$run" --checkpoint last --split heldout "$@"
