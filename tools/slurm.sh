#!/bin/sh
# Tries deploy/slurm/batch.sbatch on a Slurm cluster of this one machine, with its
# own daemons in a temporary folder. Of 8 tasks with 200 small clips one is requeued
# while it runs, and another is killed with SIGKILL and then requeued. Prints numbers;
# fails if an output is missing, made twice, or too many. Needs root, ffmpeg, and
# Debian's packages slurmctld, slurmd, slurm-client and munge.
set -eu

test $# = 1 && test -x "$1" || { echo "usage: slurm.sh BGREMOVE" >&2; exit 2; }
clips=200
tasks=8
program=$(readlink -f "$1")
sbatch=$(readlink -f "$(dirname "$0")/../deploy/slurm/batch.sbatch")
dir=$(mktemp -d "${TMPDIR:-/tmp}/bgremove-slurm.XXXXXX")
chmod 755 "$dir"
export SLURM_CONF="$dir/slurm.conf"

die() { echo "slurm.sh: $*" >&2; exit 1; }

stop() {
	scancel -u root >/dev/null 2>&1 || true
	for daemon in slurmd slurmctld munged; do
		test ! -s "$dir/$daemon.pid" || kill "$(cat "$dir/$daemon.pid")" 2>/dev/null || true
	done
	for daemon in slurmd slurmctld munged; do
		tries=100
		while test -e "$dir/$daemon.pid" && test $tries -gt 0; do tries=$((tries - 1)); sleep 0.1; done
	done
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# await COMMAND... runs a command until it succeeds, for at most 5 minutes.
await() {
	deadline=$(($(date +%s) + 300))
	until "$@"; do
		test "$(date +%s)" -lt $deadline || die "in vain: $*"
		sleep 0.1
	done
}

start() {
	dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 2>/dev/null
	chmod 400 "$dir/munge.key"
	munged --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
		--log-file="$dir/munged.log" --seed-file="$dir/munged.seed"
	mkdir "$dir/state" "$dir/spool"
	host=$(hostname -s)
	# cred_expire: a requeued task begins again after that many seconds.
	cat >"$SLURM_CONF" <<-END
		ClusterName=bgremove
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=16817
		SlurmdPort=16818
		SlurmUser=root
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$dir/munge.socket,cred_expire=5
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool
		SlurmctldPidFile=$dir/slurmctld.pid
		SlurmdPidFile=$dir/slurmd.pid
		SlurmctldLogFile=$dir/slurmctld.log
		SlurmdLogFile=$dir/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		MpiDefault=none
		ReturnToService=2
		SlurmdParameters=config_overrides
		NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=65536
		PartitionName=all Nodes=ALL Default=YES
	END
	slurmctld
	slurmd -N "$host"
	await node_is_idle
}

node_is_idle() { test "$(sinfo -h -o %T 2>/dev/null)" = idle; }

draw() {
	mkdir -p "$dir/in/a" "$dir/in/b"
	n=0
	while test $n -lt $clips; do
		folder=a
		test $((n % 2)) = 0 || folder=b
		printf -- "-map 0:v -vf drawbox=x=%d:y=12:w=16:h=24:color=red:t=fill -frames:v 8 %s/in/%s/%03d.mp4\n" $((n % 28 + 2)) "$dir" $folder $n
		n=$((n + 1))
	done | xargs ffmpeg -v error -f lavfi -i color=white:size=64x48:rate=10
}

running() { squeue -h -r -j "$job" -t RUNNING -o %K | sort -n; }

outputs() { find "$dir/out" -name '*-nobg.gif' 2>/dev/null | wc -l; }

# Two tasks run, and have made outputs.
two_run() { test "$(running | wc -l)" -ge 2 && test "$(outputs)" -ge 30; }

is_off() { ! running | grep -qx "$1"; }

all_ended() { test -z "$(squeue -h -j "$job")"; }

interrupt() {
	await two_run
	requeued=$(running | sed -n 1p)
	killed=$(running | sed -n 2p)
	scontrol requeue "${job}_$requeued"
	scancel --signal=KILL --full "${job}_$killed"
	await is_off "$killed"
	scontrol requeue "${job}_$killed"
	echo "task $requeued requeued while it ran, task $killed killed and requeued"
}

# report prints the numbers, and fails if one is wrong.
report() {
	find "$dir/in" -name '*.mp4' -printf '%P\n' | sed 's/\.mp4$/-nobg.gif/' | sort >"$dir/want"
	find "$dir/out" -type f ! -name '.bgremove-*.part' -printf '%P\n' | sort >"$dir/got"
	cat "$dir"/log-* | grep -o '"output":"[^"]*","status":"done"' | sort >"$dir/done"
	echo "clips $clips, outputs $(wc -l <"$dir/got"), reported done $(wc -l <"$dir/done"), done twice $(uniq -d "$dir/done" | wc -l)"
	echo "skipped by tasks that ran again: $(cat "$dir"/log-* | grep -c '"status":"skipped"'), failed: $(cat "$dir"/log-* | grep -c '"status":"failed"' || true)"
	echo "interrupted by SIGTERM before its end: $(grep -lE 'interrupted after' "$dir"/log-* | wc -l) task"
	echo "partial files left by SIGKILL: $(find "$dir/out" -name '.bgremove-*.part' | wc -l)"
	for task in $requeued $killed; do
		test "$(grep -c 'shard .* inputs$' "$dir/log-$task")" = 2 || die "task $task did not run twice"
	done
	cmp "$dir/want" "$dir/got" || die "the outputs are not those of the clips"
	test -z "$(uniq -d "$dir/done")" || die "an output was made twice"
	find "$dir/out" -name '*.gif' -size 0 | grep . && die "an output is empty"
	scontrol show job "$job" | grep -o 'JobState=[A-Z]*' | sort | uniq -c | grep -qx " *$tasks JobState=COMPLETED" || die "a task failed"
}

start
draw
began=$(date +%s)
mkdir "$dir/bin"
ln -s "$program" "$dir/bin/bgremove"
job=$(cd "$dir" && PATH="$dir/bin:$PATH" IN="$dir/in" OUT="$dir/out" sbatch --parsable --array=0-$((tasks - 1)) \
	--cpus-per-task=1 --mem=500M --output="$dir/log-%a" "$sbatch" --method fast --jobs 1 --json)
interrupt
await all_ended
echo "$tasks tasks, 4 at once: $(($(date +%s) - began)) s"
report
