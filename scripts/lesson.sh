#!/usr/bin/env bash
# The lesson as one HTML file to hand out or to project: its text with the four pages to type to inside, offline.
#   scripts/lesson.sh [OUT.html]      (default: lesson.html)
# Answers to questions open on a click and are not printed while they are closed; pages to type to are printed as pictures.
# Builds heed if it is not there (HEED_BINARY names another program), and trains the four models in a temporary folder: about
# two minutes on two cores. Installs python3-markdown.
source "$(dirname "$0")/common.sh"

"$repository"/scripts/install_dependencies.sh build lesson
heed=${HEED_BINARY:-$repository/build/heed}
if [[ ! -x $heed ]]; then
  cmake -S "$repository" -B "$repository/build" "${fresh_build[@]}" -DHEED_TESTS=OFF -DCMAKE_BUILD_TYPE=Release
  cmake --build "$repository/build" --target heed --parallel "$(parallel_jobs)"
fi
exec /usr/bin/python3 "$repository/scripts/lesson.py" "$heed" "${1:-lesson.html}"
