#!/usr/bin/env bash
# Writes the generated part of the Python client from proto/: src/holdfast/v1 and src/holdfast/_services.py, or the same
# files below the folder that is given. Needs Python 3.10 or newer; its tools come from codegen/requirements.txt, into a
# virtual environment below node_modules/.cache.
set -euo pipefail
cd "$(dirname "$0")/../.."

out=${1:-clients/python/src/holdfast}
tools=$(clients/python/venv.sh codegen -r clients/python/codegen/requirements.txt)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

protos=(proto/holdfast/v1/*.proto)
"$tools/bin/python" -m grpc_tools.protoc -I proto \
  --python_out="$work" --pyi_out="$work" \
  --include_imports --include_source_info --descriptor_set_out="$work/api.binpb" \
  "${protos[@]#proto/}"
"$tools/bin/python" clients/python/codegen/services.py "$work/api.binpb" "$work/holdfast"

# What stands for a message may be a mapping; protoc does not say of what, which strict type checkers mind.
sed -i.bak -E 's/_Mapping([],])/_Mapping[str, object]\1/g' "$work"/holdfast/v1/*.pyi
rm "$work"/holdfast/v1/*.bak

mkdir -p "$out"
rm -rf "$out/v1"
cp -R "$work/holdfast/v1" "$out/v1"
cp "$work/holdfast/_services.py" "$out/_services.py"
