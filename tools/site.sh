#!/bin/sh
# Builds the documentation site in site/html, of docs/, README.md and the pages that
# tools/site makes from the program. A broken link ends it. Its tools are installed under
# .cache.
set -eu
cd "$(dirname "$0")/.."
tools=$PWD/.cache/site
own=$PWD/tools/site

# pip runs again when the versions change.
mkdir -p "$tools"
cmp -s "$own/requirements.txt" "$tools/requirements.txt" || {
	python3 -m venv "$tools/python"
	"$tools/python/bin/pip" install --quiet -r "$own/requirements.txt"
	cp "$own/requirements.txt" "$tools/requirements.txt"
}
go run ./tools/site site/pages
PYTHONPATH=$own "$tools/python/bin/python" -B -m unittest discover -s "$own"
NO_MKDOCS_2_WARNING=true PYTHONPATH=$own PYTHONDONTWRITEBYTECODE=1 "$tools/python/bin/python" -m mkdocs build --quiet --strict -f "$own/mkdocs.yml"
echo "site.sh: open site/html/index.html"
