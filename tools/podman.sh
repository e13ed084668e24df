#!/bin/sh
# Runs podman with the base image localhost/debian, which it first makes of Debian's
# packages: no image registry is needed. Also works where limits may not be raised
# and where only runc can start containers. Needs root, and Debian's packages podman,
# runc, iptables and mmdebstrap.
set -eu

test $# -gt 0 || { echo "usage: podman.sh ARGUMENT..." >&2; exit 2; }
for program in podman runc iptables mmdebstrap; do
	command -v "$program" >/dev/null || { echo "podman.sh: $program is missing: apt-get install podman runc iptables mmdebstrap" >&2; exit 1; }
done

suite=trixie
mkdir -p "$(dirname "$0")/../.cache/debian"
cache=$(cd "$(dirname "$0")/../.cache/debian" && pwd)
cat >"$cache/containers.conf" <<'END'
[engine]
runtime = "runc"
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
END
export CONTAINERS_CONF="$cache/containers.conf"

if ! podman image exists "localhost/debian:$suite"; then
	if [ ! -s "$cache/$suite.tar" ]; then
		mmdebstrap --quiet --format=tar --variant=minbase "$suite" "$cache/$suite.tar.part"
		mv "$cache/$suite.tar.part" "$cache/$suite.tar"
	fi
	podman import --quiet "$cache/$suite.tar" "localhost/debian:$suite" >/dev/null
fi
exec podman "$@"
