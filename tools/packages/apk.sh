. /tests/checks.sh
# An empty root has no C library, so the program cannot need Debian's.
mkdir /tmp/root
tar --warning=no-unknown-keyword -xzf /dist/bgremove_*_x86_64.apk -C /tmp/root
cp /clips/pygif/animation.gif /tmp/root/
mkdir /tmp/root/tmp
chroot /tmp/root /usr/bin/bgremove version
chroot /tmp/root /usr/bin/bgremove remove /animation.gif --method fast -o /out.gif
test -s /tmp/root/out.gif
grep -x 'depend = ffmpeg' /tmp/root/.PKGINFO
