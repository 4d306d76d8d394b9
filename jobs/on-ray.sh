#!/bin/sh
# Runs a job on a Ray cluster to its end; one that fails is submitted again, and resumes its run:
#   RETRIES=3 CPUS=4 sh on-ray.sh http://127.0.0.1:8265 refusion-train.sh RUN_DIR [key=value ...]
# Ctrl-C ends following the log, not the job. CONFIG=mine.yaml names another config, in the job's folder, which is sent along.
set -eu
address=$1 job=$2
shift 2
name=$(basename "$job" .sh)-$(date +%s)-$$
for try in $(seq 0 "${RETRIES:-2}"); do
  ray job submit --address "$address" --submission-id "$name-try-$try" --working-dir "$(dirname "$job")" \
    --entrypoint-num-cpus "${CPUS:-1}" -- env ${CONFIG:+"CONFIG=$CONFIG"} sh "$(basename "$job")" "$@" && exit 0
done
echo "$name failed $((try + 1)) times; the same command resumes $1" >&2
exit 1
