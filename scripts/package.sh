#!/usr/bin/env bash
# Makes packages of HEAD (not of what is uncommitted) that run on every x86-64-v3 CPU, in build-package/. Two builds of one
# commit are byte-equal on one system.
#   scripts/package.sh [deb] [static] [wheel]     (default: deb)
# deb: a package for the Debian that this runs in: sudo apt install ./build-package/heed_*.deb
# static: one file with all libraries inside, for any Linux, and their licences: build-package/heed-linux-*
# wheel: the static program with its configs, and the module heed for Python: build-package/heed-*.whl. The notebooks of
#   docs/course are run with it.
# Installs what is missing (root or sudo only for that).
source "$(dirname "$0")/common.sh"
cd "$repository"

scripts/install_dependencies.sh build package
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
umask 022
work=$PWD/build-package
rm -rf "$work"
mkdir -p "$work/source"
git archive "$commit" | tar -x -C "$work/source"

# build FOLDER OPTION...: builds heed there and installs it to FOLDER/stage
build() {
  local folder=$1
  shift
  cmake -S "$work/source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEED_TESTS=OFF -DHEED_MPI=OFF \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS="-ffile-prefix-map=$folder=. -ffile-prefix-map=$work/source=." "$@"
  cmake --build "$folder" --parallel "$(parallel_jobs)" --target heed
  cmake --install "$folder" --prefix "$folder/stage" --strip >/dev/null
}

make_deb() {
  build "$work/deb" -DHEED_ONEDNN=ON
  local stage=$work/deb/stage doc=$work/deb/stage/share/doc/heed number maintainer
  # Later commits and later Debians are upgrades.
  number=$("$stage/bin/heed" --version | sed -n 's/^heed //p')
  number+=+$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S)~$(. /etc/os-release && echo "$ID${VERSION_ID-}")
  maintainer=$(git log -1 --format='%an <%ae>' "$commit")
  rm "$doc/LICENSE"  # the text is in copyright
  { cat "$work/source/scripts/package/copyright"; sed 's/^$/./; s/^/ /' "$work/source/LICENSE"; } >"$doc/copyright"
  gzip -9n >"$doc/changelog.gz" <<END
heed ($number) unstable; urgency=medium

  * Commit $commit.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
  mkdir -p "$stage/share/man/man1" "$stage/share/lintian/overrides"
  cp "$work/source/scripts/package/lintian-overrides" "$stage/share/lintian/overrides/heed"
  python3 "$work/source/scripts/package/man_pages.py" "$stage/bin/heed" "$stage/share/man/man1"
  gzip -9n "$stage"/share/man/man1/*.1
  find "$stage" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
  chmod -R u=rwX,go=rX "$stage"
  # heed needs OpenBLAS with its own threads; any build of it would satisfy what dpkg-shlibdeps finds. oneDNN, which only
  # bfloat16 products of full speed need, is recommended.
  mkdir -p "$work/deb/debian"
  printf 'Source: heed\n\nPackage: heed\nArchitecture: any\n' >"$work/deb/debian/control"
  (cd "$work/deb" && dpkg-shlibdeps -O -dDepends -estage/bin/heed -dRecommends -estage/lib/heed/heed_onednn.so) >"$work/needs"
  needs() { sed -n "s/^shlibs:$1=//p" "$work/needs"; }
  (cd "$work" && cpack -G DEB --config source/scripts/package/deb.cmake -D CPACK_INSTALLED_DIRECTORIES="$stage;/usr" \
    -D CPACK_PACKAGE_VERSION="$number" -D CPACK_PACKAGE_CONTACT="$maintainer" \
    -D CPACK_DEBIAN_PACKAGE_DEPENDS="libopenblas0-pthread, $(needs Depends)" \
    -D CPACK_DEBIAN_PACKAGE_RECOMMENDS="$(needs Recommends)" >"$work/cpack.log") ||
    { cat "$work/cpack.log" >&2; exit 1; }
  lintian --fail-on error "$work"/heed_*.deb
  (cd "$work" && sha256sum heed_*.deb)
}

# Debian's SentencePiece has no static library: built from Debian's source. Installed to $work/sentencepiece.
build_sentencepiece() {
  local root=$work/sentencepiece apt
  mkdir -p "$root/lists/partial"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" >"$root/sources.list"
  apt=(apt-get -qq -o Dir::Etc::SourceList="$root/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Debug::NoLocking=1
    -o Dir::State::Lists="$root/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=)
  "${apt[@]}" update
  (cd "$root" && "${apt[@]}" source --download-only sentencepiece && dpkg-source --extract *.dsc source >/dev/null)
  sed -i 's/add_library(\(sentencepiece[_a-z]*\) SHARED/add_library(\1 STATIC/' "$root/source/src/CMakeLists.txt"
  cmake -S "$root/source" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSPM_ENABLE_TCMALLOC=OFF \
    -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DCMAKE_CXX_FLAGS="-w -ffile-prefix-map=$root=."
  cmake --build "$root/build" --parallel "$(parallel_jobs)" --target sentencepiece sentencepiece_train
}

make_static() {
  local file package
  file=$work/heed-linux-$(uname -m)
  build_sentencepiece
  build "$work/static" -DHEED_STATIC=ON -DSENTENCEPIECE_INCLUDE="$work/sentencepiece/source/src" \
    -DSENTENCEPIECE="$work/sentencepiece/build/src/libsentencepiece.a" \
    -DSENTENCEPIECE_TRAIN="$work/sentencepiece/build/src/libsentencepiece_train.a"
  cp "$work/static/stage/bin/heed" "$file"
  {
    printf '== heed, commit %s\n\n' "$commit"
    cat "$work/source/LICENSE"
    for package in libopenblas-pthread-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libutf8proc-dev libssl-dev \
      zlib1g-dev liblzma-dev libedit-dev libbsd-dev libmd-dev libncurses-dev libc6-dev "libstdc++-$(g++ -dumpversion)-dev"; do
      dpkg-query -W -f='\n== ${source:Package} ${source:Version}, from Debian\n\n' "$package"
      cat "/usr/share/doc/$package/copyright"
    done
    printf '\n== sentencepiece, from Debian: %s\n\n' "$(basename "$work"/sentencepiece/*.dsc .dsc)"
    cat "$work/sentencepiece/source/debian/copyright"
  } >"$file.licences"
  # What these refer to.
  grep -oE '/usr/share/common-licenses/[A-Za-z]+[-0-9.]*[0-9]' "$file.licences" | sort -u | while read -r text; do
    printf '\n== %s\n\n' "$text"
    cat "$text"
  done >"$work/common-licences"
  cat "$work/common-licences" >>"$file.licences"
  (cd "$work" && sha256sum heed-linux-*)
}

make_wheel() {
  local file
  file=$work/heed-linux-$(uname -m)
  [[ -e $file ]] || make_static
  python3 "$work/source/scripts/package/wheel.py" "$work" "$work/source" "$file" "$file.licences"
  (cd "$work" && sha256sum heed-*.whl)
  scripts/install_dependencies.sh course
  /usr/bin/python3 "$work/source/scripts/course.py" "$file" "$work/course"  # every notebook works with it
}

for kind in "${@:-deb}"; do
  case $kind in
    deb) make_deb ;;
    static) make_static ;;
    wheel) make_wheel ;;
    *) echo "package.sh: deb, static or wheel, not '$kind'" >&2; exit 2 ;;
  esac
done
