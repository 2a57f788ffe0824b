#!/usr/bin/env bash
# Puts public training data where the configs expect it, in data/downloads/ (which git ignores).
#
#   scripts/get_data.sh shakespeare              for configs shakespeare, gpt, gpt-best and gpt-pieces (1.1 MB)
#   scripts/get_data.sh multi30k                 for configs multi30k, multi30k-bf16 and multi30k-cased (8 MB)
#   scripts/get_data.sh g2p                      for config g2p: 15 languages (1.6 MB)
#   scripts/get_data.sh scan                     for config scan, after scripts/make_splits.py (4 MB)
#   scripts/get_data.sh SET --from DIR           copies the files from DIR instead of downloading them
#
# The files, their addresses and their SHA-256 are in scripts/downloads.txt. A file that already has the right SHA-256
# stays. Any other is fetched under a temporary name, checked, and only then moved into place, so the files in
# data/downloads/ are always complete. In DIR a file may have its name here (shakespeare.txt, multi30k/train.en, train.en)
# or the name at its address (input.txt, train.en.gz).
#
# Where its own data/ cannot be written (heed's package), data/downloads/ is made in the current folder, and heed train says
# how it takes the files from there.
#
# Downloading needs curl or wget. Downloading from the real addresses is untested; the tests use a server of their own.
source "$(dirname "$0")/common.sh"
list=$repository/scripts/downloads.txt
place=$repository/data/downloads

fail() { printf 'get_data.sh: %s\n' "$*" >&2; exit 1; }
misused() { printf 'get_data.sh: %s\n\n' "$*" >&2; usage >&2; exit 2; }

set_name='' from=''
while (($# > 0)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --from)
      (($# > 1)) || misused '--from needs a folder'
      from=$2
      shift 2
      ;;
    -*) misused "unknown option $1" ;;
    *)
      [[ -z $set_name ]] || misused "one set at a time, not $set_name and $1"
      set_name=$1
      shift
      ;;
  esac
done
known=$(grep -v '^#' "$list" | cut -d' ' -f1 | uniq | paste -sd' ')
[[ -n $set_name ]] || misused "which data set? One of: $known"
grep -qxF -- "$set_name" <<<"${known// /$'\n'}" || misused "no data set $set_name. Known: $known"
[[ -z $from || -d $from ]] || fail "--from $from is not a folder"

temporary=''
trap '[[ -z $temporary ]] || rm -f "$temporary" "$temporary.gz"' EXIT

sha256() { sha256sum <"$1" | cut -d' ' -f1; }

download() {  # download ADDRESS FILE
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --retry 1 --connect-timeout 30 --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --tries=2 --timeout=30 --output-document="$2" "$1"
  else
    fail "curl and wget are both missing. Install one (apt-get install curl), or download the files in $list" \
      'by hand and give their folder with --from'
  fi
}

unpack() {  # unpack FILE.gz FILE
  gzip -dc "$1" >"$2" || fail "$1 is not a complete gzip file"
}

find_in() {  # find_in DIR PATH ADDRESS: the file in DIR, under any of its names
  local name
  for name in "$2" "${2##*/}" "$2.gz" "${2##*/}.gz" "${3##*/}"; do
    if [[ -f $1/$name ]]; then printf '%s\n' "$1/$name"; return; fi
  done
  fail "$1 has no file $2 (nor ${3##*/})"
}

fetch() {  # fetch PATH SHA-256 ADDRESS
  local target=$place/$1 source=$3 found
  if [[ -f $target && $(sha256 "$target") == "$2" ]]; then
    echo "$1: already here"
    return
  fi
  mkdir -p "${target%/*}"
  temporary=$(mktemp "${target%/*}/.partial-XXXXXX")
  if [[ -n $from ]]; then
    source=$(find_in "$from" "$1" "$3")
    if [[ $source == *.gz ]]; then unpack "$source" "$temporary"; else cat "$source" >"$temporary"; fi
  elif [[ $3 == *.gz ]]; then
    download "$3" "$temporary.gz" || fail "could not download $3"
    unpack "$temporary.gz" "$temporary"
    rm -f "$temporary.gz"
  else
    download "$3" "$temporary" || fail "could not download $3"
  fi
  found=$(sha256 "$temporary")
  [[ $found == "$2" ]] || fail "$source is not the expected file: its SHA-256 is $found, expected $2"
  chmod 644 "$temporary"
  if [[ -e $target ]]; then echo "$1: replaces another file"; fi
  mv "$temporary" "$target"
  temporary=''
  echo "$1: checked, $(wc -c <"$target") bytes"
}

{ mkdir -p "$place" && [[ -w $place ]]; } 2>/dev/null || place=$PWD/data/downloads
while read -r name path hash address; do
  if [[ $name == "$set_name" ]]; then fetch "$path" "$hash" "$address" </dev/null; fi
done <"$list"
echo "$set_name is in $place"
