#!/usr/bin/env bash
# Runs the README's two commands on a bare Debian, as a new user does: a minimal system is made with debootstrap, HEAD is
# cloned into it (not what is uncommitted), and both scripts run there as they stand. Exit code 0: both passed.
#   sudo scripts/dev/fresh_machine.sh [12|13]     (default: 13)
# Needs root, about 2 GB under ${TMPDIR:-/var/tmp} (/tmp may not hold device files) and 15 minutes on two cores. The system
# is deleted at the end. Debian comes from the mirror and through the proxy that apt uses here. Not part of .ci/run.
source "$(dirname "$0")/../common.sh"
cd "$repository"

debian=${1:-13}
case $debian in
  12) suite=bookworm ;;
  13) suite=trixie ;;
  *) echo "fresh_machine.sh: Debian 12 or 13, not '$debian'" >&2; exit 2 ;;
esac
if ((EUID != 0)); then
  echo "fresh_machine.sh needs root for debootstrap, mount and chroot: sudo $0 $debian" >&2
  exit 1
fi
scripts/install_dependencies.sh machine

work=$(mktemp -d "${TMPDIR:-/var/tmp}/heed-debian-$debian.XXXXXX")
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP

# Mounts are made in a namespace of their own: they end with the command, however it ends.
in_debian() {
  # shellcheck disable=SC2016
  unshare --mount bash -c '
    mount -t proc proc "$0/proc" && mount --bind /sys "$0/sys" && mount --bind /dev/pts "$0/dev/pts" && mount -t tmpfs tmpfs "$0/dev/shm" &&
      exec chroot "$0" env -u TMPDIR HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$root" "$@"
}

mirror=
if command -v apt-get >/dev/null; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' |
    grep '^http' | tail -n 1 || true)
  set -o allexport
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  set +o allexport
fi
echo "Making a bare Debian $debian ($suite) in $root ..."
if ! unshare --mount debootstrap --variant=minbase "$suite" "$root" "${mirror:-http://deb.debian.org/debian}" \
  >"$work/debootstrap.log" 2>&1; then
  tail -n 20 "$work/debootstrap.log" >&2
  exit 1
fi
cp /etc/hosts "$root/etc/hosts"
if command -v apt-config >/dev/null; then
  apt-config dump | grep -E '^Acquire::(https?|Check-)' >"$root/etc/apt/apt.conf.d/90host" || true
fi
git clone --quiet --depth 1 "file://$PWD" "$root/root/heed"

failed=0 results=
for command in scripts/quickstart.sh scripts/test.sh; do
  printf '\n$ %s\n' "$command"
  begun=$SECONDS result=passed
  in_debian "/root/heed/$command" || { result="FAILED (exit code $?)" failed=1; }
  results+=$(printf '%-22s %s, %d s' "$command" "$result" $((SECONDS - begun)))$'\n'
done

installed() { in_debian "$@" 2>/dev/null || echo "not installed"; }
printf '\nDebian %s, g++ %s, OpenBLAS %s\n' "$(cat "$root/etc/debian_version")" "$(installed g++ -dumpfullversion)" \
  "$(installed dpkg-query -W -f '${Version}' libopenblas-pthread-dev)"
printf '%s' "$results"
exit $failed
