#!/bin/sh
# Runs a command with a PostgreSQL server of its own, whose address is in
# BGREMOVE_TEST_POSTGRES. The server listens on a socket in a temporary folder
# and is removed with its data when the command ends. If the variable already
# names a server, that one is used instead.
set -eu

test $# -gt 0 || { echo "usage: postgres.sh COMMAND [ARGUMENT...]" >&2; exit 2; }
test -z "${BGREMOVE_TEST_POSTGRES:-}" || exec "$@"

bin=$(dirname "$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n 1)")
test -x "$bin/initdb" || { echo "postgres.sh: PostgreSQL is missing: run tools/setup.sh" >&2; exit 1; }
bin=$(dirname "$(readlink -f "$bin/initdb")")

# The server refuses to run as root.
as_user=
user=$(id -un)
dir=$(mktemp -d "${TMPDIR:-/tmp}/bgremove-postgres.XXXXXX")
if [ "$(id -u)" = 0 ]; then
	user=postgres
	as_user="setpriv --reuid=postgres --regid=postgres --clear-groups"
	chown postgres:postgres "$dir"
fi

stop() {
	# pg_ctl signals the process that wrote the folder's postmaster.pid.
	(cd "$dir" && $as_user "$bin/pg_ctl" -D "$dir/data" -m immediate stop) >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

cd "$dir" # the user postgres may be unable to enter the current folder
{
	$as_user "$bin/initdb" -D "$dir/data" -U "$user" -A trust -E UTF8 --no-locale &&
		$as_user "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w \
			-o "-c listen_addresses= -c unix_socket_directories=$dir -c max_connections=300" start
} >"$dir/start" 2>&1 || { cat "$dir/start" "$dir/log" >&2 || true; exit 1; }
cd "$OLDPWD"

export BGREMOVE_TEST_POSTGRES="postgres:///postgres?host=$dir&user=$user"
status=0
"$@" || status=$?
exit "$status"
