#!/bin/sh
# Runs after the package is removed or upgraded. "apt purge" also removes the
# data, the settings and their user; rpm has no such command and leaves them.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
if [ "$1" = purge ]; then
	rm -rf /var/lib/bgremove /etc/bgremove.env
	if getent passwd bgremove >/dev/null; then
		userdel bgremove
	fi
fi
