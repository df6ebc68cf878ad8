#!/usr/bin/env bash
# Fuzzes one target and prints one line: run.sh BINARIES SCRATCH SECONDS TARGET. Exits with 1 on a finding and names
# its input. New corpus entries go to SCRATCH; the checked-in corpus is only read.
# Needs bash 4 or newer.
set -euo pipefail
cd "$(dirname "$0")/../.."
binaries=$1 scratch=$2 seconds=$3 target=$4

corpus=$scratch/corpus/$target found=$scratch/found/$target log=$scratch/$target.log
mkdir -p "$corpus" "$found"

# An input that needs more memory or time than this is a finding. A sanitizer reserves too many addresses for ulimit.
limits() { case $binaries in *address*) ;; *) ulimit -v 4000000 ;; esac }
if (limits && exec timeout $((seconds + 120)) "$binaries/$target" -max_total_time="$seconds" -timeout=10 \
	-rss_limit_mb=2048 -artifact_prefix="$found/" "$corpus" "tests/fuzz/corpus/$target") >"$log" 2>&1; then
	awk -v target="$target" '$2 == "DONE" {
		for (i = 3; i < NF; i += 2) stats[$i] = $(i + 1)
		printf "%-15s %10d executions %7d/s %6d edges %6d features, corpus of %s\n",
			target, substr($1, 2), stats["exec/s:"], stats["cov:"], stats["ft:"], stats["corp:"]
	}' "$log"
else
	echo "$target: a property does not hold, see $log" >&2
	grep -a -A3 "panicked at\|ERROR: \|Test unit written" "$log" | head -20 >&2 || true
	echo "Fix it, and keep the input as tests/fuzz/corpus/$target/found-…" >&2
	exit 1
fi
