. /tests/checks.sh
apt-get -qq update
apt-get -qq -y --no-install-recommends install rpm ffmpeg libstdc++6 passwd >/dev/null
before=$(named)
package=$(ls /dist/bgremove-*.x86_64.rpm)

# rpm does not know the packages of Debian. Its plugins need more rights than a
# container has.
rpm --install --noplugins --nodeps "$package"
rpm --verify --nodeps bgremove
runs
user
data
rpm --upgrade --noplugins --nodeps --replacepkgs "$package"
test -s /var/lib/bgremove/bgremove.db || die "the upgrade lost the data"

rpm --erase --noplugins bgremove
left=$(named | grep -vxF "$before" || true)
test "$left" = "$(printf '%s\n' /etc/bgremove.env /var/lib/bgremove /var/lib/bgremove/bgremove.db)" || die "rpm --erase left: $left"
user
echo "rpm --erase: left the data, the settings and their user"
