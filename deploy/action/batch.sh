#!/usr/bin/env bash
# Runs "bgremove batch" for action.yml, with PATHS, OUT and FLAGS, and writes its
# report. PATHS and FLAGS have one word a line.
set -euo pipefail

test $# = 1 || { echo "usage: batch.sh BGREMOVE" >&2; exit 2; }
words=()
while IFS= read -r line; do
	line=${line%$'\r'}
	test -z "$line" || words+=("$line")
done <<<"$FLAGS"
words+=(--)
while IFS= read -r line; do
	line=${line%$'\r'}
	test -z "$line" || words+=("$line")
done <<<"$PATHS"

report=$RUNNER_TEMP/bgremove-report.jsonl
echo "report=$report" >>"$GITHUB_OUTPUT"
"$1" batch --out "$OUT" --json "${words[@]}" | tee "$report"
