#!/usr/bin/env bash
# Prints the path of a virtual environment with what pip is told to install, and makes it first where it is missing.
# One for each name; it is made anew when the arguments, the requirements or the Python differ.
# Usage: venv.sh NAME PIP-ARGUMENTS…
#        venv.sh --check: only says whether there is a Python that can
set -euo pipefail
cd "$(dirname "$0")/../.."

python=
for candidate in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11 python3.10; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo 'error: no Python 3.10 or newer. Install it, or say where it is with PYTHON=…' >&2
  exit 1
fi

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  echo 'error: Python cannot make a virtual environment. On Debian: apt-get install python3-venv' >&2
  exit 1
fi
if [ "$1" = --check ]; then exit; fi

name=$1
shift
venv=$PWD/node_modules/.cache/holdfast-python/$name
wanted=$("$python" -VV; echo "$PWD" "$@"; cat clients/python/pyproject.toml clients/python/codegen/requirements.txt)
if [ "$(cat "$venv/made-of" 2>/dev/null)" != "$wanted" ]; then
  rm -rf "$venv"
  "$python" -m venv "$venv" >&2
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
  echo "$wanted" >"$venv/made-of"
fi
echo "$venv"
