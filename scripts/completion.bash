# Bash completion of heed's commands, options and config keys. It asks heed itself, so it is always up to date.
# cmake --install puts it where bash finds it. Without installing: source scripts/completion.bash
_heed() {
  local heed=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} words=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words=$("$heed" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == --set ]]; then
    words=$("$heed" config --docs | sed -n 's/^| `\([a-z_.]*\)`.*/\1=/p')
    compopt -o nospace 2>/dev/null
  elif [[ $word == -* ]]; then
    words=$("$heed" "${COMP_WORDS[1]}" --help 2>/dev/null | tr , ' ' | grep -oE -- '(^| )--[a-z-]+' | sort -u)
  fi
  # Names of runs, where a run is asked for.
  ((COMP_CWORD != 2)) || words+=" $(for run in runs/*/checkpoints; do [[ -d $run ]] && basename "${run%/*}"; done)"
  [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _heed heed
