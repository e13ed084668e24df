#!/bin/sh
# Writes databases with a program's schema and some data as SQL:
#
#	tools/postgres.sh tools/dump-schema.sh PROGRAM VERSION
#
# makes internal/service/store/testdata/schema/VERSION.sqlite.sql and .postgres.sql by
# running PROGRAM as a service. Run it before a change of the schema, with the
# program before the change. TestUpgrade then upgrades the written databases.
# It needs sqlite3, pg_dump, curl, jq and the files of testdata.
set -eu
program=$(realpath "$1")
version=$2
cd "$(dirname "$0")/.."
folder=internal/service/store/testdata/schema
dir=$(mktemp -d)
server=
schema=

clean() {
	test -z "$server" || stop || true
	test -z "$schema" || psql "$BGREMOVE_TEST_POSTGRES" -qc "SET client_min_messages TO warning; DROP SCHEMA IF EXISTS $schema CASCADE" || true
	rm -rf "$dir"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# serve starts a node with a role on --data $data and --database $database.
serve() {
	: >"$dir/log"
	"$program" serve --role "$1" --addr 127.0.0.1:0 --data "$data" --database "$database" --log-format json 2>"$dir/log" &
	server=$!
	until url=$(sed -n 's/.*"msg":"listening","url":"\([^"]*\)".*/\1/p' "$dir/log") && test -n "$url"; do
		kill -0 "$server" 2>/dev/null || { server=; cat "$dir/log" >&2; exit 1; }
		sleep 0.1
	done
	export BGREMOVE_SERVER="$url"
}

stop() {
	running=$server
	server=
	kill -TERM "$running"
	wait "$running"
}

admin() { "$program" admin "$@" --data "$data" --database "$database"; }

# fill adds some data of every kind to the database at $database.
fill() {
	echo "correct horse" >"$dir/password"
	admin account create ann@example.com --credits 100 --password-file "$dir/password"
	admin account create bob@example.com
	admin credits grant bob@example.com --plan light
	admin key revoke "$(admin key create bob@example.com --json | jq -r .id)"
	BGREMOVE_API_KEY=$(admin key create ann@example.com --name fixture 2>/dev/null)
	export BGREMOVE_API_KEY
	serve all
	"$program" client submit testdata/pygif/animation.gif --method fast --wait -o "$data/done.gif"
	echo nonsense >"$dir/broken.gif"
	"$program" client batch testdata/pygif/animation-speed.gif "$dir/broken.gif" --method fast --yes --wait --out "$data/out" || test $? = 3
	curl -fsS "$BGREMOVE_SERVER/api/session" -H 'Content-Type: application/json' -d '{"email":"ann@example.com","password":"correct horse"}'
	stop
	serve api # without workers, so that jobs wait
	"$program" client submit testdata/pygif/animation.gif --method fast --pad 3
	curl -fsS "$BGREMOVE_SERVER/api/v1/jobs" -H "X-API-Key: $BGREMOVE_API_KEY" -H 'Idempotency-Key: once' -F file=@testdata/pygif/animation.gif
	stop
}

# Rows that otherwise need a mail server and Stripe.
outside="
INSERT INTO mail_tokens SELECT 'aa', id, 'reset', 4102444800000 FROM accounts WHERE email = 'ann@example.com';
INSERT INTO stripe_customers SELECT 'cus_1', id, 1700000000000 FROM accounts WHERE email = 'bob@example.com';
INSERT INTO stripe_events VALUES ('evt_1', 1700000000000);
INSERT INTO payments SELECT 'pi_1', id, 'light', 150, 999, 0, 0, 1700000000000 FROM accounts WHERE email = 'bob@example.com';
INSERT INTO payment_losses VALUES ('ch_1', 'pi_1', 100, 0);
INSERT INTO subscriptions SELECT 'sub_1', id, 'pro-monthly', 'active', 1700000000 FROM accounts WHERE email = 'bob@example.com';"

mkdir -p "$folder"
data=$dir/sqlite
database=sqlite:$data/bgremove.db
fill
sqlite3 "$data/bgremove.db" "$outside"
sqlite3 "$data/bgremove.db" .dump >"$folder/$version.sqlite.sql"

data=$dir/postgres
schema=fixture_$$
psql "$BGREMOVE_TEST_POSTGRES" -qc "CREATE SCHEMA $schema"
database="$BGREMOVE_TEST_POSTGRES&search_path=$schema"
fill
PGOPTIONS="-c search_path=$schema" psql "$BGREMOVE_TEST_POSTGRES" -qc "$outside"
# The schema's name is removed: a test restores into a schema of its own.
pg_dump "$BGREMOVE_TEST_POSTGRES" --schema "$schema" --inserts --no-owner --no-comments >"$dir/dump.sql"
sed -e "s/$schema\\.//g" -e '/^--/d' -e '/^SET /d' -e '/^SELECT pg_catalog\.set_config/d' -e '/^CREATE SCHEMA /d' -e '/^\\/d' "$dir/dump.sql" | cat -s >"$folder/$version.postgres.sql"
ls -l "$folder"
