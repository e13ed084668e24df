#!/bin/sh
# The clients of clients/: "clients.sh types" makes their types from openapi.yaml, and
# "clients.sh test PROGRAM" checks and tests them with a service of PROGRAM. Their tools
# are installed under .cache.
set -eu
cd "$(dirname "$0")/.."
tools=$PWD/.cache/clients
python=$PWD/clients/python
typescript=$PWD/clients/typescript
out=$tools/typescript

# install runs again when the versions change.
install() {
	node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || {
		echo "clients.sh: Node is too old: $(node --version); the clients' tests need 20 or newer" >&2
		exit 1
	}
	mkdir -p "$tools"
	cmp -s "$python/requirements.txt" "$tools/requirements.txt" || {
		python3 -m venv "$tools/python"
		"$tools/python/bin/pip" install --quiet -r "$python/requirements.txt"
		cp "$python/requirements.txt" "$tools/requirements.txt"
	}
	cmp -s "$typescript/package.json" "$tools/package.json" || {
		npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix "$tools" \
			$(node -p 'Object.entries(require(process.argv[1]).devDependencies).map(d => d.join("@")).join(" ")' "$typescript/package.json")
		cp "$typescript/package.json" "$tools/package.json"
	}
}

# types FILE.py FILE.ts writes the types.
types() {
	"$tools/python/bin/datamodel-codegen" --input pkg/api/openapi.yaml --input-file-type openapi --openapi-scopes schemas \
		--output-model-type typing.TypedDict --target-python-version 3.11 --enum-field-as-literal all --use-union-operator \
		--use-standard-collections --use-field-description --strict-nullable --disable-timestamp --formatters builtin --output "$1"
	"$tools/node_modules/.bin/openapi-typescript" pkg/api/openapi.yaml --default-non-nullable false --output "$2" >/dev/null 2>&1
}

# fresh compares a file with the one that was made just now.
fresh() {
	cmp -s "$1" "$2" || {
		echo "clients.sh: $1 is older than openapi.yaml; make clients makes it again" >&2
		exit 1
	}
}

install
case ${1:-} in
types)
	types "$python/bgremove_client/types.py" "$typescript/src/schema.ts"
	;;
test)
	BGREMOVE_BIN=$(realpath "$2")
	BGREMOVE_TEST_CLIP=$PWD/clients/testdata/clip.gif
	export BGREMOVE_BIN BGREMOVE_TEST_CLIP
	types "$tools/types.py" "$tools/schema.ts"
	fresh "$python/bgremove_client/types.py" "$tools/types.py"
	fresh "$typescript/src/schema.ts" "$tools/schema.ts"
	(cd "$python" && "$tools/python/bin/mypy" --cache-dir "$tools/mypy" && "$tools/python/bin/python" -B -m unittest discover -s tests)
	rm -rf "$out"
	"$tools/node_modules/.bin/tsc" -p "$typescript" --outDir "$out" --typeRoots "$tools/node_modules/@types" --types node
	cp "$typescript/package.json" "$out"
	node --test "$out/test/client.test.js"
	;;
*)
	echo "usage: clients.sh types | test PROGRAM" >&2
	exit 2
	;;
esac
