#!/bin/sh
# Trains with the settings of the design documents, or resumes the run where it has begun:
#   sh fsdfm-train.sh RUN_DIR [key=value ...]
set -eu
run=$1 config=${CONFIG:-configs/documents/espo-fsdfm.yaml}
shift
if [ -f "$run/env.json" ]; then set -- --resume --run-dir "$run"; else set -- --config "$config" --run-dir "$run" "$@"; fi
exec npx refusion-train train "$@"
