#!/bin/sh
# Runs before the package is removed or upgraded. dpkg gives the word "remove",
# and rpm the number of versions that stay. If systemd refuses, the package is
# removed all the same.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now bgremove.service || true
	fi
	;;
esac
