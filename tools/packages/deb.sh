. /tests/checks.sh
apt-get -qq update
# To check the unit; not part of what the package brings.
apt-get -qq -y --no-install-recommends install systemd >/dev/null
before=$(named)
cp /dist/bgremove_*_amd64.deb /tmp/new.deb
mv /tmp/new.deb "/root/$(basename /dist/bgremove_*_amd64.deb)"
cd /root

apt-get -qq -y install ./bgremove_*_amd64.deb >/tmp/install || die "$(cat /tmp/install)"
command -v ffmpeg >/dev/null || die "apt did not install the recommended ffmpeg"
dpkg --verify bgremove
runs
user
systemd-analyze verify /usr/lib/systemd/system/bgremove.service
bash -n /usr/share/bash-completion/completions/bgremove

data
apt-get -qq -y install --reinstall ./bgremove_*_amd64.deb >/tmp/install || die "$(cat /tmp/install)"
test -s /var/lib/bgremove/bgremove.db || die "the upgrade lost the data"

files=$(dpkg -L bgremove | while read -r f; do test -d "$f" || echo "$f"; done)
apt-get -qq -y remove bgremove >/tmp/remove
for f in $files; do test ! -e "$f" || die "apt remove left $f"; done
left=$(named | grep -vxF -e "$before" -e "$(ls -d /root/bgremove_*)" -e /var/lib/dpkg/info/bgremove.list -e /var/lib/dpkg/info/bgremove.postrm || true)
test "$left" = "$(printf '%s\n' /etc/bgremove.env /var/lib/bgremove /var/lib/bgremove/bgremove.db)" || die "apt remove left: $left"
user # owns the data
echo "apt remove: left the data, the settings and their user"

apt-get -qq -y purge bgremove >/tmp/purge
left=$(named | grep -vxF -e "$before" -e "$(ls -d /root/bgremove_*)" || true)
test -z "$left" || die "apt purge left: $left"
! getent passwd bgremove && ! getent group bgremove || die "apt purge left the user"
echo "apt purge: left nothing"
