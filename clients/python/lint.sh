#!/usr/bin/env bash
# Checks the style and the types of the Python client.
set -euo pipefail
cd "$(dirname "$0")"

tools=$(./venv.sh lint --editable "$PWD[lint,test]")
"$tools/bin/ruff" format --check .
"$tools/bin/ruff" check .
"$tools/bin/pyright" --pythonpath "$tools/bin/python"
