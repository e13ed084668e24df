#!/usr/bin/env bash
# Builds the image of deploy/Containerfile on base images of Debian's packages and
# this machine's Go, and checks that its containers work with the rights that the
# documents promise, alone and as the service of deploy/compose.yaml. Needs what
# tools/podman.sh needs, Debian's packages podman-compose and aardvark-dns, curl, jq,
# npm and ffprobe, and the port 8080. VERSITYGW is the program.
set -euo pipefail
cd "$(dirname "$0")/.."

test $# = 1 && test -x "$1" || { echo "usage: container.sh VERSITYGW" >&2; exit 2; }
versitygw=$1
for program in podman-compose /usr/lib/podman/aardvark-dns curl jq npm ffprobe; do
	command -v "$program" >/dev/null || { echo "container.sh: $program is missing" >&2; exit 1; }
done
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
	remove_service
	test -z "${standins:-}" || $podman rmi --force $standins >/dev/null 2>&1 || true
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

# healthy CONTAINER asks for its health.
healthy() {
	$podman healthcheck run "$1" >/dev/null 2>&1 || true # podman needs systemd to do so itself
	test "$($podman inspect --format '{{.State.Health.Status}}' "$1")" = healthy
}

# check_rights CONTAINER fails unless it has no rights.
check_rights() {
	test "$($podman exec "$1" id -u)" = 10001 || die "$1 runs as $($podman exec "$1" id)"
	! $podman exec "$1" touch /etc/passwd /opt/bgremove/x 2>/dev/null || die "the root file system of $1 is not read-only"
	grep -q '^CapBnd:\s0*$' <<<"$($podman exec "$1" cat /proc/1/status)" || die "$1 has capabilities"
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
	await healthy "$name"
	url=http://$($podman port "$name" 8080/tcp)
	check_rights "$name"
	$podman exec "$name" bgremove admin account create ann@example.com --credits 100 >/dev/null
	key=$($podman exec "$name" bgremove admin key create ann@example.com)
	job fast testdata/demo/hop.mp4
	job rembg testdata/demo/hop.mp4
	$podman stop --time 45 "$name" >/dev/null
	test "$($podman inspect --format '{{.State.ExitCode}}' "$name")" = 0 || die "the service did not stop in time"
	echo "serve: healthy, one job by each method, stopped in order"
}

# compose ARGUMENT... runs podman-compose on the compose file.
compose() {
	POSTGRES_PASSWORD=secret1 STORAGE_PASSWORD=secret2 podman-compose --podman-path "$PWD/$podman" --project-name "$name" --file deploy/compose.yaml "$@"
}

# standin NAME builds an image by the Containerfile on standard input, in the place of
# one of a registry, unless the machine has that.
standin() {
	! $podman image exists "$1" || return 0
	$podman build --quiet --tag "$1" --file - "$dir" >/dev/null
	standins="${standins:-} $1"
}

# image_of SERVICE is the image that the compose file names.
image_of() { sed -n "/^  $1:/,/image:/s/.*image: //p" deploy/compose.yaml; }

standins() {
	install "$versitygw" "$dir/versitygw"
	standin "$(image_of storage)" <<-'END'
		FROM localhost/debian:trixie
		COPY versitygw /usr/local/bin/
		ENTRYPOINT ["versitygw"]
	END
	cat >"$dir/postgres.sh" <<-'END'
		#!/bin/sh
		set -eu
		PATH=/usr/lib/postgresql/17/bin:$PATH
		data=/var/lib/postgresql/data
		if [ ! -s $data/PG_VERSION ]; then
			chown postgres $data
			echo "$POSTGRES_PASSWORD" >/tmp/password
			setpriv --reuid=postgres --clear-groups initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust $data
			echo "host all all all scram-sha-256" >>$data/pg_hba.conf
			echo "CREATE DATABASE $POSTGRES_USER" | setpriv --reuid=postgres --clear-groups postgres --single -D $data postgres
		fi
		exec setpriv --reuid=postgres --clear-groups postgres -D $data -c listen_addresses='*'
	END
	standin "$(image_of database)" <<-'END'
		FROM localhost/debian:trixie
		RUN apt-get update && apt-get install -y --no-install-recommends postgresql-17
		COPY --chmod=755 postgres.sh /usr/local/bin/
		ENV PATH=/usr/lib/postgresql/17/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		VOLUME /var/lib/postgresql/data
		STOPSIGNAL SIGINT
		ENTRYPOINT ["postgres.sh"]
	END
}

ready() { curl -s --fail --output /dev/null "$url/readyz"; }

# left are the names of what is left of the service.
left() {
	$podman ps --all --filter "name=^${name}_" --format '{{.Names}}'
	$podman volume ls --filter "name=^${name}_" --format '{{.Name}}'
	$podman network ls --filter "name=^${name}_" --format '{{.Name}}'
}

# remove_service removes also what podman-compose 1.0.3 leaves: the network, and the
# volume that several services share.
remove_service() {
	compose down --volumes
	$podman volume rm "${name}_data" || true
	$podman network rm "${name}_default" || true
} >/dev/null 2>&1

service() {
	url=http://127.0.0.1:8080
	! curl -s --output /dev/null "$url" || die "something else listens at $url"
	standins
	compose up --detach >"$dir/up" 2>&1 || die "$(cat "$dir/up")"
	await ready
	for container in "${name}_api_1" "${name}_worker_1" "${name}_worker_2"; do
		await healthy "$container"
		check_rights "$container"
	done
	test "$($podman exec "${name}_database_1" printenv POSTGRES_PASSWORD)" = secret1 || die "the database has another password than the one that was set"
	compose exec -T api bgremove admin account create ann@example.com --credits 100 >/dev/null 2>&1
	key=$($podman exec "${name}_api_1" bgremove admin key create ann@example.com 2>/dev/null)
	job auto testdata/demo/hop.mp4
	remove_service
	test -z "$(left)" || die "of the service are left: $(left)"
	echo "compose: three nodes healthy and without rights, one job from node to node, nothing left"
}

build
clips
profiles
serve
service
