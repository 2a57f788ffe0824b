#!/usr/bin/env bash
# Makes a package of HEAD (not of what is uncommitted) for the Debian that this runs in, and checks it with lintian:
#   scripts/package.sh, then sudo apt install ./build-package/heed_*.deb
# Installs what is missing (root or sudo only for that).
source "$(dirname "$0")/common.sh"
cd "$repository"

scripts/install_dependencies.sh build package
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$PWD/build-package
rm -rf "$work"
mkdir -p "$work/source"
git archive HEAD | tar -x -C "$work/source"

# build FOLDER: builds heed there and installs it to FOLDER/stage
build() {
  local folder=$1
  cmake -S "$work/source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEED_TESTS=OFF -DHEED_MPI=OFF \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS="-ffile-prefix-map=$folder=. -ffile-prefix-map=$work/source=."
  cmake --build "$folder" --parallel "$(parallel_jobs)" --target heed
  cmake --install "$folder" --prefix "$folder/stage" --strip >/dev/null
}

make_deb() {
  build "$work/deb"
  local stage=$work/deb/stage doc=$work/deb/stage/share/doc/heed number maintainer
  # Later commits and later Debians are upgrades.
  number=$("$stage/bin/heed" --version | sed -n 's/^heed //p')
  number+=+$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S)~$(. /etc/os-release && echo "$ID${VERSION_ID-}")
  maintainer=$(git log -1 --format='%an <%ae>')
  rm "$doc/LICENSE"  # the text is in copyright
  { cat "$work/source/scripts/package/copyright"; sed 's/^$/./; s/^/ /' LICENSE; } >"$doc/copyright"
  gzip -9n >"$doc/changelog.gz" <<END
heed ($number) unstable; urgency=medium

  * Commit $(git rev-parse HEAD).

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
  mkdir -p "$stage/share/man/man1" "$stage/share/lintian/overrides"
  cp "$work/source/scripts/package/lintian-overrides" "$stage/share/lintian/overrides/heed"
  python3 "$work/source/scripts/package/man_pages.py" "$stage/bin/heed" "$stage/share/man/man1"
  gzip -9n "$stage"/share/man/man1/*.1
  find "$stage" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  chmod -R u=rwX,go=rX "$stage"
  (cd "$work" && cpack -G DEB --config source/scripts/package/deb.cmake -D CPACK_INSTALLED_DIRECTORIES="$stage;/usr" \
    -D CPACK_PACKAGE_VERSION="$number" -D CPACK_PACKAGE_CONTACT="$maintainer" >"$work/cpack.log") ||
    { cat "$work/cpack.log" >&2; exit 1; }
  lintian --fail-on error "$work"/heed_*.deb
  (cd "$work" && sha256sum heed_*.deb)
}

make_deb
