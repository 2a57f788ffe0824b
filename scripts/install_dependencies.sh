#!/usr/bin/env bash
# Installs the Debian packages that heed needs and that are missing. This is the only list of them.
#   scripts/install_dependencies.sh [build] [tests] [checks] [fuzz] [machine] [mpi] [page] [package] [onednn] [arm64] [lesson] [course]   (default: build)
#   scripts/install_dependencies.sh --list GROUP...   installs nothing, and prints their packages
# build: for the program. tests: for its tests. checks: for what .ci/run does beyond the tests. fuzz: clang with libFuzzer.
# machine: for scripts/dev/fresh_machine.sh. mpi: for training on several machines (build heed again after it).
# page: node, which runs a live page's model in its test. package: for scripts/package.sh.
# onednn: for fast bfloat16 products (build heed again after it). arm64: for scripts/dev/arm64.sh. lesson: for lesson.sh.
# course: to run the notebooks of docs/course.
# Needs root or sudo only if something is missing. Asks no questions.
source "$(dirname "$0")/common.sh"

build_packages=(
  g++ cmake ninja-build pkg-config
  libcli11-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libsentencepiece-dev libutf8proc-dev libssl-dev
  zlib1g-dev   # .gz
  liblzma-dev  # a yardstick
  libedit-dev  # the line editor of prompts
  # OpenBLAS with its own threads. libopenblas-openmp-dev ignores the request to use only the calling thread.
  libopenblas-pthread-dev
  python3  # for scripts/*.py, the experiments among them
)
test_packages=(libgtest-dev libgmock-dev python3-numpy)
check_packages=(clang-format git strace)
fuzz_packages=(clang libclang-rt-dev)
machine_packages=(debootstrap)
mpi_packages=(openmpi-bin libopenmpi-dev)
page_packages=(nodejs)
package_packages=(dpkg-dev file git lintian libdnnl-dev)
onednn_packages=(libdnnl-dev)
arm64_packages=(g++-aarch64-linux-gnu qemu-user)
lesson_packages=(python3-markdown)
course_packages=(python3-nbclient python3-ipykernel python3-markdown python3-numpy)

list=
if [[ ${1-} == --list ]]; then list=yes; shift; fi

wanted=()
for group in "${@:-build}"; do
  case $group in
    build) wanted+=("${build_packages[@]}") ;;
    tests) wanted+=("${test_packages[@]}") ;;
    checks) wanted+=("${check_packages[@]}") ;;
    fuzz) wanted+=("${fuzz_packages[@]}") ;;
    machine) wanted+=("${machine_packages[@]}") ;;
    mpi) wanted+=("${mpi_packages[@]}") ;;
    page) wanted+=("${page_packages[@]}") ;;
    package) wanted+=("${package_packages[@]}") ;;
    onednn) wanted+=("${onednn_packages[@]}") ;;
    arm64) wanted+=("${arm64_packages[@]}") ;;
    course) wanted+=("${course_packages[@]}") ;;
    lesson) wanted+=("${lesson_packages[@]}") ;;
    *) echo "install_dependencies.sh: unknown group '$group' (build, tests, checks, fuzz, machine, mpi, page, package, onednn, arm64, lesson, course)" >&2; exit 2 ;;
  esac
done
if [[ $list ]]; then printf '%s\n' "${wanted[@]}"; exit; fi

if ! command -v apt-get >/dev/null; then
  echo "Not a Debian-like system: make sure that the equivalents of these are installed:" >&2
  echo "  ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then exit 0; fi

echo "Installing missing packages: ${missing[*]}"
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "This needs root or sudo. Ask an administrator to run:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
  [[ -t 0 ]] || as_root+=(--non-interactive)
fi
# Waits if another apt (automatic upgrades) holds the lock.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
"${apt[@]}" update </dev/null
"${apt[@]}" install --yes --no-install-recommends "${missing[@]}" </dev/null >/dev/null
