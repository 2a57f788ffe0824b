#!/usr/bin/env bash
# Does heed work on arm64? Builds it on a Debian x86-64 for Debian's arm64, and under qemu, some fifty times slower:
# compares the bits of heed's kernels with those of a build for x86-64, runs the unit tests of math, nn, step and text, and
# trains quickstart.json and reverse.json (native: there is no portable arithmetic).
#   scripts/dev/arm64.sh [STEPS]     (default: 60 steps of each; a step of quickstart takes half a minute or more)
# The program is build-arm64/build/heed, to be run by qemu-aarch64 -L build-arm64/sysroot. Debian's arm64 libraries are
# unpacked there; the system gets only the compiler and qemu (root or sudo only for these). Exit code 0: all passed.
source "$(dirname "$0")/../common.sh"
cd "$repository"

steps=${1:-60}
work=$PWD/build-arm64
sysroot=$work/sysroot build=$work/build
qemu=(qemu-aarch64 -L "$sysroot")

# Too slow under qemu, or they start programs, which need qemu too.
left_out=(
  'SameBitsOfBuilds.*' 'Ranks.*' 'Products/Bfloat16.*' 'AddedOptimizer.*' '*WholeModelGradient.*' 'Utf8.LowerCaseIsPythons'
  'TokenizerFile.EveryFlippedBit*' 'RowKernel/*.ARowHasTheSameBitsInAnyBatchAndOnAnyThreads'
  'PieceTokenizer.LongTextTakesLinearTime' '*CachedDecoding.ABatchHasTheBits*'
)

scripts/install_dependencies.sh build arm64

# Debian's arm64 packages of the libraries and all that they need, by an apt with a state of its own.
make_sysroot() {
  local root=$work/apt apt libraries deb link
  rm -rf "$root" "$sysroot"
  mkdir -p "$root"/{lists,archives}/partial "$sysroot"
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' \
    "$(. /etc/os-release && echo "$VERSION_CODENAME")" >"$root/sources.list"
  touch "$root/status"
  apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$root" -o Dir::Cache="$root"
    -o Dir::State::status="$root/status" -o Dir::Etc::SourceList="$root/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null -o APT::Sandbox::User=)
  mapfile -t libraries < <(scripts/install_dependencies.sh --list build tests | grep -e '-dev$')
  "${apt[@]}" update
  "${apt[@]}" install --download-only --yes --no-install-recommends libc6-dev "${libraries[@]}" >/dev/null
  for deb in "$root"/archives/*.deb; do dpkg-deb -x "$deb" "$sysroot"; done
  find "$sysroot" -type l -lname '/*' | while read -r link; do ln -sfr "$sysroot$(readlink "$link")" "$link"; done
  touch "$sysroot/complete"
}
[[ -e $sysroot/complete ]] || make_sysroot

options=(-S . -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DHEED_MPI=OFF)
cmake "${options[@]}" -B "$work/x86-64" >"$work/cmake.log"
cmake --build "$work/x86-64" --target kernel_bits_x86_64_v3__mtune_znver3
arm64_packages=$sysroot/usr/lib/aarch64-linux-gnu
export PKG_CONFIG_SYSROOT_DIR=$sysroot  # for the build too, which may configure again
export PKG_CONFIG_LIBDIR=$arm64_packages/openblas-pthread/pkgconfig:$arm64_packages/pkgconfig
cmake "${options[@]}" -B "$build" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_SYSROOT="$sysroot" \
  -DCMAKE_CROSSCOMPILING_EMULATOR="$(command -v qemu-aarch64);-L;$sysroot" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
  -DCMAKE_FIND_ROOT_PATH_MODE_{LIBRARY,INCLUDE,PACKAGE}=ONLY >>"$work/cmake.log"
cmake --build "$build" --parallel "$(parallel_jobs)" --target heed heed_tests
"${qemu[@]}" "$build/heed" --version

failed=0
# Other bits have OpenBLAS's products, with them whole models, and erf in double, which no training uses.
others='^(activate(_with_slope)? double|orthogonalize|post norm|learned positions|rotary, gated)'
"$work"/x86-64/tests/kernel_bits_x86_64_v3__mtune_znver3 | grep -vE "$others" >"$work/bits.x86-64"
"${qemu[@]}" "$build/tests/kernel_bits_armv8_a" | grep -vE "$others" >"$work/bits.arm64"
if cmp "$work/bits.x86-64" "$work/bits.arm64"; then
  echo "Kernels: the same bits in $(wc -l <"$work/bits.arm64") lines"
else
  failed=1
fi

suites=$(grep -hoE '^(TYPED_)?TEST(_F|_P)?\(\w+' tests/{math,nn,step,text}/*_test.cpp | sed 's/.*(\(.*\)/\1.*:*\/\1.*:\1\/*/' |
  sort -u | paste -sd:)
"${qemu[@]}" "$build/tests/heed_tests" --gtest_brief=1 --gtest_filter="$suites-$(IFS=:; echo "${left_out[*]}")" || failed=1

for config in reverse quickstart; do
  "${qemu[@]}" "$build/heed" train "$config" --run "$work/runs/$config" --force --threads "$(parallel_jobs)" \
    --set train.max_steps="$steps" --set train.log_every=10 --set train.eval_every=0 || failed=1
done
exit $failed
