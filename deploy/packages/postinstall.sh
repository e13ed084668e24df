#!/bin/sh
# Runs after the package is installed or upgraded: makes the service's user, and
# restarts the service if it runs. It does not start a service that is off. If
# systemd refuses, the package is installed all the same.
set -e
getent passwd bgremove >/dev/null ||
	useradd --system --user-group --home-dir /var/lib/bgremove --no-create-home --shell /usr/sbin/nologin bgremove
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart bgremove.service || true
fi
