# Versions of the tools that this file installs under .cache/bin.
GOLANGCI_VERSION   := v2.15.0
GORELEASER_VERSION := v2.16.0
VERSITYGW_VERSION  := v1.8.0
STRIPEMOCK_VERSION := v0.203.0
PROMTOOL_VERSION   := v0.316.0
APIDIFF_VERSION    := v0.0.0-20261113113407-e3970619a1a4
CYCLONEDX_VERSION  := v1.10.0
ACTIONLINT_VERSION := v1.7.12

GO       ?= go
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME ?= 10s

# Installed by `make setup`, for the tests of neural networks.
export BGREMOVE_ONNXRUNTIME ?= $(shell ls $(CURDIR)/.cache/bgremove/onnxruntime/*onnxruntime.* 2>/dev/null)

# Installed by `make setup`, for the tests of pages.
export BGREMOVE_TEST_AXE ?= $(CURDIR)/.cache/axe/node_modules/axe-core/axe.min.js

# Installed by `make setup`, for the tests of pages in Firefox.
export BGREMOVE_TEST_PUPPETEER ?= $(CURDIR)/.cache/puppeteer/node_modules

# Installed by `make setup`, for the tests of sprite sheets.
export BGREMOVE_TEST_ENGINES ?= $(CURDIR)/.cache/engines/node_modules

tools      := $(CURDIR)/.cache/bin
golangci   := $(tools)/golangci-lint-$(GOLANGCI_VERSION)
goreleaser := $(tools)/goreleaser-$(GORELEASER_VERSION)
versitygw  := $(tools)/versitygw-$(VERSITYGW_VERSION)
stripemock := $(tools)/stripe-mock-$(STRIPEMOCK_VERSION)
promtool   := $(tools)/promtool-$(PROMTOOL_VERSION)
apidiff    := $(tools)/apidiff-$(APIDIFF_VERSION)
cyclonedx  := $(tools)/$(CYCLONEDX_VERSION)/cyclonedx-gomod
actionlint := $(tools)/actionlint-$(ACTIONLINT_VERSION)

# For the tests of buying.
test race: export BGREMOVE_TEST_STRIPE_MOCK ?= $(stripemock)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install the programs that the tests and the demo need besides Go
	@./tools/setup.sh

.PHONY: build
build: ## build bin/bgremove
	@test "$$($(GO) env CGO_ENABLED)" = 1 || echo 'make: without a C compiler the program has no neural networks (Debian: apt install gcc libc6-dev)' >&2
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/bgremove

.PHONY: test
test: setup $(stripemock) ## run every test, and the seeds of every fuzz target
	./tools/postgres.sh $(GO) test -timeout 20m ./...

.PHONY: race
race: setup $(stripemock) ## run every test under the race detector
	./tools/postgres.sh $(GO) test -timeout 60m -race ./...

.PHONY: screenshots
screenshots: setup ## open every page in a browser, and make the pictures of docs/dashboard.md
	@mkdir -p .cache/screenshots
	BGREMOVE_SCREENSHOTS='$(CURDIR)/.cache/screenshots' $(GO) test -count=1 -run '^TestLooks$$' ./internal/service/dashboard
	for name in workbench-1280-light jobs-1280-dark credits-1280-light keys-380-dark; do \
		convert ".cache/screenshots/$$name.png" -colors 128 "PNG8:docs/images/dashboard-$$name.png" || exit 1; done

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (10s)
	@grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do \
		sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file" | while read -r name; do \
			echo "$$name in $$(dirname "$$file")"; \
			$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null || exit 1; \
		done || exit 1; \
	done

.PHONY: lint
lint: $(golangci) ## check format, modules, vet and the rules of .golangci.yml
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt these: $$unformatted" >&2; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(golangci) run ./...

# The clips that the benchmarks of writers measure besides drawn ones: videos and
# GIFs, separated as in PATH.
bench: export BGREMOVE_BENCH_CLIPS := $(CURDIR)/testdata/real/milk.mov
bench: SHELL := bash

.PHONY: bench
bench: setup ## print the numbers of docs/measurements.md, compared with ffmpeg
	set -o pipefail; $(GO) test -count=1 -v -run '^(TestSuite|TestQuality)$$' ./internal/media/gif ./internal/matte/floodfill | grep -E ' of 84|IoU|^ok|FAIL'
	set -o pipefail; $(GO) test -count=1 -v -run '^(TestHalo|TestDither|TestScreens)$$' ./pkg/bgremove | grep -E 'halo|IoU|error of|^ok|FAIL'
	$(GO) test -run '^$$' -bench Against -benchtime 3x ./internal/media/gif ./internal/media/apng ./internal/media/webp
	set -o pipefail; $(GO) test -count=1 -v -run '^(TestStabiliser|TestSteadyThenUpsampled|TestDecontaminate|TestDecontaminateEstimated)$$' ./internal/matte/refine | grep -E 'mean:|of it|^ok|FAIL'
	$(GO) test -run '^$$' -bench '^BenchmarkFrame$$' -benchtime 50x ./internal/matte/refine
	$(GO) run ./tools/bench

.PHONY: bench-peers
bench-peers: setup build ## compare with gifski, ImageMagick and rembg too; installs gifski and rembg
	./tools/setup.sh peers
	PATH="$(tools):$$PATH" $(GO) run ./tools/bench -peers

.PHONY: soak
soak: setup ## measure memory over ten minutes of 1080p
	$(GO) run ./tools/bench -soak

.PHONY: load
load: setup $(versitygw) ## measure the service: requests, pickup, memory
	./tools/postgres.sh $(GO) run ./tools/load -versitygw $(versitygw)

.PHONY: scale
scale: setup ## print the numbers of docs/scale.md: many nodes against one, a simulated day, and a check of the simulation
	./tools/postgres.sh $(GO) run ./tools/load -databases postgres -only cluster
	$(GO) run ./tools/simulate
	./tools/postgres.sh $(GO) run ./tools/simulate -check

# The amount of work of make chaos; CLUSTER_JOBS=0 omits the cluster and S3, and ROLLS=0 the rolling restarts.
JOBS         ?= 1000
KILLS        ?= 200
CLUSTER_JOBS ?= 500
ROLLS        ?= 3

.PHONY: chaos
chaos: setup $(if $(filter-out 0,$(CLUSTER_JOBS)),$(versitygw)) ## kill and restart the service at random moments and check that nothing is lost
	./tools/postgres.sh $(GO) run ./tools/chaos -jobs $(JOBS) -kills $(KILLS) -cluster-jobs $(CLUSTER_JOBS) -rolls $(ROLLS) -versitygw $(versitygw)

.PHONY: slurm
slurm: build ## try batch --shard on a Slurm cluster of this machine, with tasks that are killed; needs root
	./tools/slurm.sh bin/bgremove

.PHONY: clients
clients: ## make the types of the clients in clients/ from openapi.yaml
	./tools/clients.sh types

.PHONY: clients-test
clients-test: build ## check and test the clients in clients/, with a real service
	./tools/clients.sh test bin/bgremove

.PHONY: site
site: ## build the documentation site in site/html, and check its links
	./tools/site.sh

.PHONY: site-test
site-test: setup site ## open the documentation site in Chromium and Firefox, and check its looks and its search
	BGREMOVE_TEST_SITE='$(CURDIR)/site/html' $(GO) test -count=1 ./tools/site

.PHONY: attack
attack: setup build ## attack a real server in the ways of docs/security.md, and print its answers
	./tools/postgres.sh $(GO) run ./tools/attack -bin bin/bgremove

.PHONY: alerts
alerts: $(promtool) ## check the alerts of deploy/prometheus; builds promtool first
	$(promtool) check rules deploy/prometheus/rules.yaml
	$(promtool) test rules deploy/prometheus/rules.test.yaml

.PHONY: actions
actions: $(actionlint) ## check action.yml and the workflows of examples/ci and .github; builds actionlint first
	./tools/actions.sh $(actionlint)

# For the network: tools/train/README.md describes DATA, a folder of pictures.
python  := .cache/train/bin/python
train   := tools/train
bundled := internal/network/model/bundled
MINUTES ?= 600

# Training goes on from weights of floating point; processors run the 8-bit integers.
reviser chooser guide: MODEL ?= $(bundled)/bgremove-small.onnx
bench-clips bench-hints bench-model: MODEL ?= $(bundled)/bgremove-small-int8.onnx

.PHONY: model
model: .cache/train/everything .cache/train/pack.zip ## train the network for MINUTES on DATA, or continue, and write .cache/train/model.onnx
	$(python) $(train)/train.py .cache/train/pack.zip .cache/train/run --minutes $(MINUTES)
	$(python) $(train)/export.py .cache/train/run/checkpoint.pt .cache/train/model.onnx
	$(python) $(train)/evaluate.py .cache/train/pack.zip .cache/train/model.onnx --checkpoint .cache/train/run/checkpoint.pt

.PHONY: reviser
reviser: .cache/train/everything .cache/train/pack.zip setup ## train the reviser of MODEL's mattes on clips made of DATA, and write .cache/train/reviser.onnx
	$(GO) build -o .cache/train/plates ./tools/plates
	$(python) $(train)/views.py .cache/train/pack.zip $(MODEL) .cache/train/views --plates .cache/train/plates
	$(python) $(train)/reviser.py .cache/train/views .cache/train/reviser.pt .cache/train/reviser.onnx

.PHONY: chooser
chooser: .cache/train/everything .cache/train/pack.zip setup ## train the chooser for MODEL's mattes on clips made of DATA, and write .cache/train/chooser.onnx
	$(GO) build -o .cache/train/plates ./tools/plates
	$(python) $(train)/cells.py .cache/train/pack.zip $(MODEL) .cache/train/cells --plates .cache/train/plates
	$(python) $(train)/chooser.py .cache/train/cells .cache/train/chooser.pt .cache/train/chooser.onnx

.PHONY: guide
guide: .cache/train/everything .cache/train/pack.zip setup ## train the guide on DATA for MINUTES, or continue, and write .cache/train/guide.onnx
	$(python) $(train)/guide.py .cache/train/pack.zip .cache/train/guide --start $(MODEL) --minutes $(MINUTES)
	$(python) $(train)/guide.py .cache/train/pack.zip .cache/train/guide --write .cache/train/guide.onnx

.PHONY: integers
integers: .cache/train/everything .cache/train/pack.zip setup ## write the built-in networks in 8-bit integers, with bounds of clips made of DATA
	$(GO) build -o .cache/train/plates ./tools/plates
	$(python) $(train)/quantise.py .cache/train/pack.zip $(patsubst %,$(bundled)/bgremove-%.onnx,small reviser guide) --plates .cache/train/plates

.PHONY: bench-hints
bench-hints: .cache/train/everything .cache/train/pack.zip build ## print what clicks do on drawn clips of the held-out part of DATA
	$(python) $(train)/hinted.py .cache/train/pack.zip $(MODEL) --program bin/bgremove

.PHONY: bench-clips
bench-clips: .cache/train/measuring build ## print how well MODEL does on clips with true masks in the folder MASKED
	$(if $(MASKED),,$(error give the folder of clips: make $@ MASKED=folder))
	$(python) $(train)/masked.py $(MASKED) $(MODEL) --program bin/bgremove $(addprefix --flag=,$(FLAGS))

.PHONY: bench-model
bench-model: $(if $(CHECKPOINT),.cache/train/everything) .cache/train/pack.zip build ## print the numbers of docs/model.md for MODEL, on the held-out part of DATA
	$(python) $(train)/evaluate.py .cache/train/pack.zip $(MODEL) --program bin/bgremove $(if $(CHECKPOINT),--checkpoint $(CHECKPOINT))

.PHONY: picture
picture: setup build ## make the README's picture
	./tools/picture.sh bin/bgremove

.PHONY: cookbook
cookbook: setup build ## make the pictures of docs/cookbook.md
	./tools/cookbook.sh bin/bgremove

.PHONY: comparison
comparison: setup build ## make docs/comparison.md, with the programs that are installed
	$(GO) run ./tools/comparison -bin bin/bgremove

# The clips and the builds of make sheet.
CLIPS  ?= testdata/demo/hop.mp4 testdata/real/milk.mov
BUILDS ?= bin/bgremove

.PHONY: sheet
sheet: setup build ## draw CLIPS before and after, over magenta, with one build or more (BUILDS)
	$(GO) run ./tools/sheet $(foreach b,$(BUILDS),-bin $(b)) -o sheet.png $(CLIPS)

.PHONY: demo
demo: build ## turn the sample clip into a transparent GIF, and draw a picture of before and after
	./tools/setup.sh demo
	./examples/demo.sh

# Without a key of gpg in GPG_FINGERPRINT, checksums are not signed.
comma    := ,
unsigned := $(if $(GPG_FINGERPRINT),,$(comma)sign)

.PHONY: release-check
release-check: export PATH := $(dir $(cyclonedx)):$(PATH)
release-check: setup $(goreleaser) $(cyclonedx) ## build every release archive into dist/ and check it; publishes nothing
	$(goreleaser) check
	$(goreleaser) release --snapshot --clean --skip=publish$(unsigned)
	BGREMOVE_DIST='$(CURDIR)/dist' $(GO) test -count=1 ./tools/archives

.PHONY: apidiff
apidiff: $(apidiff) ## compare the API of pkg/ with that of the last release
	./tools/apidiff.sh $(apidiff)

.PHONY: packages
packages: $(goreleaser) ## build the packages for amd64, and install and remove them in a clean Debian; needs root
	./tools/packages.sh $(goreleaser)

.PHONY: container
container: $(versitygw) ## build the container image, and run its containers and the compose file; needs root
	./tools/container.sh $(versitygw)

.PHONY: clean
clean: ## remove the built files and the tools
	rm -rf bin dist site .cache

$(golangci):
	GOBIN='$(tools)' $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv '$(tools)/golangci-lint' $@

$(goreleaser):
	GOBIN='$(tools)' $(GO) install github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION)
	mv '$(tools)/goreleaser' $@

# It keeps its name, because .goreleaser.yaml looks for it in PATH.
$(cyclonedx):
	GOBIN='$(@D)' $(GO) install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(CYCLONEDX_VERSION)

$(versitygw):
	GOBIN='$(tools)' $(GO) install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)
	mv '$(tools)/versitygw' $@

$(stripemock):
	GOBIN='$(tools)' $(GO) install github.com/stripe/stripe-mock@$(STRIPEMOCK_VERSION)
	mv '$(tools)/stripe-mock' $@

$(promtool):
	GOBIN='$(tools)' $(GO) install github.com/prometheus/prometheus/cmd/promtool@$(PROMTOOL_VERSION)
	mv '$(tools)/promtool' $@

$(apidiff):
	GOBIN='$(tools)' $(GO) install golang.org/x/exp/cmd/apidiff@$(APIDIFF_VERSION)
	mv '$(tools)/apidiff' $@

$(actionlint):
	GOBIN='$(tools)' $(GO) install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)
	mv '$(tools)/actionlint' $@

.cache/train/pack.zip: .cache/train/measuring tools/train/pack.py tools/train/footage.py
	$(if $(DATA),,$(error give the folder of pictures: make $(MAKECMDGOALS) DATA=folder))
	$(python) $(train)/pack.py $(DATA) $@

# The packages for measuring; training and comparing with PyTorch need gigabytes more.
.cache/train/measuring: tools/train/requirements-measure.txt
	python3 -m venv .cache/train
	.cache/train/bin/pip install --quiet -r $<
	touch $@

.cache/train/everything: tools/train/requirements-export.txt tools/train/requirements.txt .cache/train/measuring
	.cache/train/bin/pip install --quiet -r $<
	touch $@
