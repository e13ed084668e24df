#!/usr/bin/env bash
# Builds the image of deploy/Containerfile on base images of Debian's packages and
# this machine's Go, and checks that its containers work with the rights that the
# documents promise. Needs what tools/podman.sh needs, and curl, jq, npm and ffprobe.
set -euo pipefail
cd "$(dirname "$0")/.."

podman=tools/podman.sh
image=localhost/bgremove
golang=localhost/golang:trixie
name=bgremove-test-$$
# The rights of deploy/compose.yaml.
confined=(--read-only --cap-drop=all --security-opt=no-new-privileges --tmpfs=/tmp)
dir=$(mktemp -d "${TMPDIR:-/tmp}/bgremove-container.XXXXXX")

die() { echo "container.sh: $*" >&2; exit 1; }

stop() {
	$podman rm --force --volumes "$name" >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

build() {
	cp /etc/ssl/certs/ca-certificates.crt "$dir" # some networks have a certificate authority of their own
	$podman build --quiet --tag "$golang" --file - "$dir" <<-'END'
		FROM localhost/debian:trixie
		RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates gcc libc6-dev
		COPY ca-certificates.crt /etc/ssl/certs/
		ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin GOTOOLCHAIN=local
	END
	# ONNX Runtime from npm, because GitHub may be unreachable.
	version=$(sed -n 's/^const Version = //p' internal/network/ortlib/ortlib.go | tr -d '"')
	archive=.cache/debian/onnxruntime-node-$version.tgz
	test -s "$archive" || npm pack --silent --ignore-scripts --pack-destination .cache/debian "onnxruntime-node@$version" >/dev/null
	# This machine's Go; its caches save minutes.
	$podman build --format docker --tag "$image" --file deploy/Containerfile \
		--build-arg GOLANG="$golang" --build-arg DEBIAN=localhost/debian:trixie --build-arg VERSION="test-$$" \
		--volume "$PWD/$archive:/${archive##*/}:ro" --build-arg ONNXRUNTIME="/${archive##*/}" \
		--volume "$(go env GOROOT):/usr/local/go:ro" --volume "$(go env GOMODCACHE):/root/go/pkg/mod" --volume "$(go env GOCACHE):/root/.cache/go-build" .
	test "$($podman run --rm --no-healthcheck "$image" version --json | jq -r .version)" = "test-$$" || die "the version is not test-$$"
}

# in_container ARGUMENT... runs bgremove in a confined container on the clips of $dir.
in_container() {
	$podman run --rm --no-healthcheck "${confined[@]}" --user 1234:1234 --volume "$dir:/data" "$image" "$@"
}

clips() {
	cp testdata/demo/hop.mp4 "$dir"
	chown -R 1234:1234 "$dir"
	in_container remove hop.mp4 --method fast --sandbox on --json | jq -e '.method == "fast" and .frames == 72' >/dev/null
	in_container remove hop.mp4 --method rembg --sandbox on -o hop.webm --json | jq -e '.method == "rembg" and .device == "cpu"' >/dev/null
	test "$(stat -c %u:%g "$dir/hop-nobg.gif" "$dir/hop.webm" | uniq)" = 1234:1234 || die "outputs do not belong to the user of the container"
	ffprobe -v error "$dir/hop.webm"
	echo "remove: both methods, in the sandbox, as user 1234, with a read-only root"
}

# sandbox prints the parts of ffmpeg's sandbox that are ok in a container.
sandbox() {
	$podman run --rm --no-healthcheck "${confined[@]}" "$@" "$image" doctor --json | jq -r '.checks[] | select(.name | startswith("sandbox")) | select(.ok) | .name'
}

profiles() {
	test "$(sandbox | wc -l)" = 3 || die "with the default profile only this part of the sandbox works: $(sandbox)"
	# The other way round: it needs these calls, and says so without them.
	jq '.syscalls |= map(.names |= map(select(startswith("landlock_") | not)))' /usr/share/containers/seccomp.json >"$dir/old.json"
	local old="--security-opt=seccomp=$dir/old.json"
	test "$(sandbox "$old")" = "$(printf 'sandbox: %s\n' network limits)" || die "without landlock_* these parts work: $(sandbox "$old")"
	! $podman run --rm --no-healthcheck "${confined[@]}" "$old" --user 1234:1234 --volume "$dir:/data" "$image" remove hop.mp4 --force --sandbox on 2>"$dir/refused" || die "--sandbox on works without landlock_*"
	grep -qi landlock "$dir/refused" || die "--sandbox on does not name what is missing: $(cat "$dir/refused")"
	echo "sandbox: all parts with podman's profile; with a profile without landlock_*, files are unprotected and --sandbox on refuses"
}

# await COMMAND... runs a command until it succeeds, for at most 10 minutes.
await() {
	local deadline=$((SECONDS + 600))
	until "$@"; do
		test $SECONDS -lt $deadline || { $podman logs --tail 20 "$name" >&2; die "in vain: $*"; }
		sleep 1
	done
}

healthy() {
	$podman healthcheck run "$name" >/dev/null 2>&1 || true # podman needs systemd to do so itself
	test "$($podman inspect --format '{{.State.Health.Status}}' "$name")" = healthy
}

finished() {
	curl -sS --fail -H "X-API-Key: $key" "$url/api/v1/jobs/$1" | jq -e '.status | . != "queued" and . != "processing"' >/dev/null
}

# job METHOD FILE has the service make a clip.
job() {
	local id
	id=$(curl -sS --fail-with-body -H "X-API-Key: $key" -F "file=@$2" -F "method=$1" "$url/api/v1/jobs" | jq -er .id)
	await finished "$id"
	curl -sS --fail-with-body -H "X-API-Key: $key" -o "$dir/job.gif" "$url/api/v1/jobs/$id/download"
	ffprobe -v error "$dir/job.gif"
}

serve() {
	$podman run --detach --name "$name" "${confined[@]}" --volume /data --publish 127.0.0.1::8080 \
		"$image" serve --addr :8080 --sandbox on >/dev/null 2>"$dir/start" || die "$(cat "$dir/start")"
	await healthy
	url=http://$($podman port "$name" 8080/tcp)
	test "$($podman exec "$name" id -u)" = 10001 || die "the service runs as $($podman exec "$name" id)"
	! $podman exec "$name" touch /etc/passwd /opt/bgremove/x 2>/dev/null || die "the root file system is not read-only"
	grep -q '^CapBnd:\s0*$' <<<"$($podman exec "$name" cat /proc/1/status)" || die "the service has capabilities"
	$podman exec "$name" bgremove admin account create ann@example.com --credits 100 >/dev/null
	key=$($podman exec "$name" bgremove admin key create ann@example.com)
	job fast testdata/demo/hop.mp4
	job rembg testdata/demo/hop.mp4
	$podman stop --time 45 "$name" >/dev/null
	test "$($podman inspect --format '{{.State.ExitCode}}' "$name")" = 0 || die "the service did not stop in time"
	echo "serve: healthy, one job by each method, stopped in order"
}

build
clips
profiles
serve
