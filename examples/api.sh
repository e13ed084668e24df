#!/bin/sh
# Removes the background of a clip with a service; needs only curl.
# Usage: examples/api.sh CLIP OUTPUT [OPTION=VALUE]...
# BGREMOVE_SERVER holds the service's address, and BGREMOVE_API_KEY a key.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 CLIP OUTPUT [OPTION=VALUE]..." >&2; exit 2; }
: "${BGREMOVE_SERVER:?}" "${BGREMOVE_API_KEY:?}"
clip=$1 output=$2
shift 2
[ -r "$clip" ] || { printf '%s cannot be read\n' "$clip" >&2; exit 1; }
[ ! -e "$output" ] || { echo "$output already exists" >&2; exit 1; }
rm -f "$output.part" # left by an earlier run
work=$(mktemp -d)
trap 'rm -rf "$work" "$output.part"' EXIT
trap 'exit 130' INT TERM

# request BODY ARGUMENT... sends a request until it gets a final answer, and
# sets status. curl reads the key from standard input, because everybody can
# read arguments.
request() {
	body=$1 try=0
	shift
	while :; do
		: >"$work/head"
		status=$(printf 'header = "X-API-Key: %s"\n' "$BGREMOVE_API_KEY" |
			curl -sS -K - -D "$work/head" -o "$body" -w '%{http_code}' "$@") || [ $? = 22 ] || status=000
		seconds=$(tr -d '\r' <"$work/head" | sed -n 's/^[Rr]etry-[Aa]fter: *//p' | tail -n 1)
		case $status,$seconds in
		000,* | 429,* | 502,* | 503,* | 504,* | 409,?*) ;; # try again
		*) return ;;
		esac
		try=$((try + 1))
		[ "$try" -lt 8 ] || return 0
		sleep "${seconds:-$try}"
	done
}

# field NAME prints a field of the answer.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/answer"; }

fail() {
	printf '%s: %s\n' "$clip" "$1" >&2
	exit 1
}

# All attempts have one Idempotency-Key, so a lost answer costs nothing.
for option; do
	set -- "$@" --form-string "$option"
	shift
done
name=$(printf %s "$clip" | sed 's/[\\"]/\\&/g') # in the quotes that curl takes away
once=${IDEMPOTENCY_KEY:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}
request "$work/answer" -H "Idempotency-Key: $once" \
	-F "file=@\"$name\"" "$@" "$BGREMOVE_SERVER/api/v1/jobs"
[ "$status" = 202 ] || fail "not accepted ($status): $(cat "$work/answer"); run it again with IDEMPOTENCY_KEY=$once, and it is charged once"
job=$BGREMOVE_SERVER/api/v1/jobs/$(field id)

while :; do
	request "$work/answer" "$job"
	[ "$status" = 200 ] || fail "lost ($status): $job"
	case $(field status) in
	done) break ;;
	queued | processing) sleep "${seconds:-1}" ;;
	failed) fail "failed: $(field error)" ;;
	*) fail "$(field status): $job" ;; # such as cancelled
	esac
done

# -C - resumes an interrupted transfer; -f keeps errors out of the file.
request "$output.part" -f -C - "$job/download"
case $status in
200 | 206) mv "$output.part" "$output" ;;
*) fail "no result ($status): $job" ;;
esac
