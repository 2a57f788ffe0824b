#!/usr/bin/env bash
# The lesson as one HTML file to hand out or to project: its text with the four pages to type to inside, offline.
#   scripts/lesson.sh [OUT.html] [--runs DIR]      (default: lesson.html)
#   scripts/lesson.sh --course [DIR]               runs the notebooks of docs/course and writes them with their output (course)
# Answers open on a click. While they are closed, lines to write on and empty grids are printed in their place.
# Builds heed if it is not there (HEED_BINARY names another program), and trains the four models in a temporary folder: two
# minutes on an idle laptop. Those that are in DIR (reverse, noun, quickstart, induction) are not trained. Installs
# python3-markdown.
source "$(dirname "$0")/common.sh"

course=
if [[ ${1-} == --course ]]; then course=yes; shift; fi
"$repository"/scripts/install_dependencies.sh build lesson ${course:+course}
heed=${HEED_BINARY:-$repository/build/heed}
if [[ ! -x $heed ]]; then
  cmake -S "$repository" -B "$repository/build" "${fresh_build[@]}" -DHEED_TESTS=OFF -DCMAKE_BUILD_TYPE=Release
  cmake --build "$repository/build" --target heed --parallel "$(parallel_jobs)"
fi
if [[ $course ]]; then exec /usr/bin/python3 "$repository/scripts/course.py" "$heed" "${1:-course}"; fi
exec /usr/bin/python3 "$repository/scripts/lesson.py" "$heed" "$@"
