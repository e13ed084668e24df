# Functions for the scripts of this folder, which run in a clean Debian.
export DEBIAN_FRONTEND=noninteractive

die() { echo "$*" >&2; exit 1; }

# as_user COMMAND... runs a command with the rights of a user who owns nothing but
# /home/ann.
as_user() {
	getent passwd ann >/dev/null || useradd --create-home ann
	(cd /home/ann && setpriv --reuid=ann --regid=ann --clear-groups env HOME=/home/ann "$@")
}

# removes METHOD INPUT checks that the installed program makes a clip by a method.
removes() {
	report=$(as_user bgremove remove "$2" --method "$1" --json --force -o /home/ann/out.gif)
	echo "$report" | grep -q "\"method\": \"$1\"" || die "method $1: $report"
	as_user test -s /home/ann/out.gif
	! echo "$report" | grep -q nothing_ || die "method $1: $report"
	echo "remove --method $1 $(basename "$2"): $(echo "$report" | grep -o '"frames": [0-9]*')"
}

# named lists the files of the whole system that bear our name, except those of
# the test.
named() {
	find / \( -path /proc -o -path /sys -o -path /dist -o -path /clips -o -path /tests -o -path /home \) -prune -o -iname '*bgremove*' -print | sort
}

# user checks the service's user.
user() {
	test "$(getent passwd bgremove | cut -d: -f6,7)" = /var/lib/bgremove:/usr/sbin/nologin || die "user: $(getent passwd bgremove)"
	test "$(getent passwd bgremove | cut -d: -f3)" -lt 1000 || die "the user is no system user"
}

# data makes data and settings as an operator and the service do.
data() {
	install -d -m 700 -o bgremove -g bgremove /var/lib/bgremove
	setpriv --reuid=bgremove --regid=bgremove --clear-groups sh -c 'echo credits >/var/lib/bgremove/bgremove.db'
	install -m 600 /dev/null /etc/bgremove.env
}

# runs checks the installed program: its library, both methods, as any user.
runs() {
	as_user bgremove version
	as_user bgremove doctor | grep -q 'ONNX Runtime .*/usr/lib/bgremove/libonnxruntime.so' || die "$(as_user bgremove doctor)"
	removes fast /clips/demo/hop.mp4
	removes rembg /clips/demo/hop.mp4
}
