# The door to every task; bare `make` lists them.
#
# make unit T="-k schedule"     passes words on to pytest; T="-n0 --pdb" has it run in one process
# make test PYTHON=python3.13   chooses the Python of a new environment
# make demo NODES=50 PODS=100   for a small machine
# make e2e KUBE_VERSION=v1.33.4 ETCD_VERSION=3.5.21 T=tests/e2e/test_story.py   other components

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
T ?=
B ?=
NODES ?= 1000
PODS ?= 2000
KUBE_VERSION ?=
ETCD_VERSION ?=

# Where it is set, each of thousands of commands compiles its 400 modules again, and each pytest rewrites its tests.
unexport PYTHONDONTWRITEBYTECODE

# A new checkout begins with what mypy knows of the last one: it compares what is in the files.
TYPES = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kwokctl/tests/mypy.tar

# Tests have words with mistakes on purpose.
SPELLED = README.md CHANGELOG.md CONTRIBUTING.md Makefile docs kwokctl runtimes templates examples charts image benchmarks

E2E = $(if $(findstring tests/e2e,$(T)),,tests/e2e)

.PHONY: help demo dev fmt check unit contract e2e first-day smoke framework addons conformance test test-engines bench golden oracle docs build image images image-all components clean

help: # lists what stands behind the double hash below
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/installed ## the main job: 1,000 nodes and 2,000 pods, and how to go on
	$(BIN)/kwokctl create cluster --nodes $(NODES) --pods $(PODS) --wait
	@echo
	@echo "$(NODES) nodes are Ready and $(PODS) pods are Running. Look at them:"
	@echo "  $(BIN)/kwokctl get components -o wide"
	@echo "  $(BIN)/kwokctl kubectl get nodes"
	@echo "  $(BIN)/kwokctl kubectl get pods -o wide"
	@echo "Delete the cluster:"
	@echo "  $(BIN)/kwokctl delete cluster"

dev: $(VENV)/made ## make the environment in .venv

fmt: $(VENV)/made ## format the code and repair what ruff can repair
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

check: $(VENV)/made ## format, lint, types, imports, spelling, links, pages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@[ -d .mypy_cache ] || tar -xf "$(TYPES)" 2>/dev/null || true
	$(BIN)/mypy
	@mkdir -p "$(dir $(TYPES))" && tar -cf "$(TYPES).$$$$" .mypy_cache && mv "$(TYPES).$$$$" "$(TYPES)" || true
	$(BIN)/lint-imports
	$(BIN)/codespell $(SPELLED)
	$(BIN)/python docs/links.py
	@$(BIN)/python docs/generate.py --check

unit: $(VENV)/made ## tests that need nothing but Python
	$(BIN)/python -m pytest tests/unit tests/cli -pno:inline_snapshot --numprocesses=auto --maxprocesses=8 $(T)

contract: $(VENV)/made ## what every runtime must do
	$(BIN)/python -m pytest tests/contract $(T)

e2e: $(VENV)/made components ## the whole product with the real components
	KWOKCTL_TEST_KUBE_VERSION=$(KUBE_VERSION) KWOKCTL_TEST_ETCD_VERSION=$(ETCD_VERSION) \
	$(BIN)/python -m pytest $(E2E) $(T)

first-day: $(VENV)/made components ## what a user meets first, in an empty home folder
	$(BIN)/python -m pytest tests/first_day $(T)

smoke: $(VENV)/made ## the wheel, installed alone and through pipx
	$(BIN)/python -m pytest tests/packaging $(T)

# Not a part of `make test`: building its modules takes two minutes of a processor.
framework: $(VENV)/made components ## sigs.k8s.io/e2e-framework with its provider kwok; needs Go
	cd tests/support/e2e_framework && PATH="$(abspath $(BIN)):$$PATH" go test -count=1 .

# Not a part of `make test`: building their programs takes a quarter of an hour of a processor.
addons: $(VENV)/made components ## the add-ons of kwokctl, built and at work; needs Go
	KWOKCTL_TEST_ADD_ONS=1 $(BIN)/python -m pytest tests/e2e/test_add_ons_at_work.py $(T)

# Not a part of `make test`: building e2e.test takes a quarter of an hour, and running it an hour.
conformance: $(VENV)/made components ## Kubernetes' own e2e.test, beside what cannot pass; needs Go
	KUBE_VERSION=$(KUBE_VERSION) $(BIN)/python -m tests.support.conformance $(T)

# `check` is one of the lanes. Beside those that need no components, `make demo` of a clone, then `components`, get them.
test: $(VENV)/made ## everything that needs no container engine; installs nothing
	$(BIN)/python -m tests.support.run_lanes test $(T)

# Engines and a browser that are missing are installed by root with INSTALL=yes or CI=true only.
test-engines: $(VENV)/made ## with Docker, Podman, kind, chromium; INSTALL=yes installs
	$(BIN)/python -m tests.support.run_lanes test-engines $(T)

bench: $(VENV)/made ## measure, beside goals; B=NAME chooses one, such as soak
	$(BIN)/python -m benchmarks $(B)

golden: $(VENV)/made ## rewrite the expected files; then read the diff
	KWOKCTL_REWRITE_GOLDEN=1 $(BIN)/python -m pytest tests/unit tests/cli --inline-snapshot=fix $(T)

oracle: $(VENV)/made ## ask Go, gojq, kwok and Kubernetes for tests/golden again
	$(BIN)/python tests/support/flags_of_releases.py tests/golden/flags.json
	$(BIN)/python tests/support/types_of_kubernetes.py templates/kubernetes
	cd tests/support/gotemplate_oracle && go run . templates ../../golden/gotemplate.json
	cd tests/support/gotemplate_oracle && go run . templates ../../golden/sprig.json
	$(BIN)/python tests/support/template_cases.py 1200 2026 tests/golden/templates.json
	cd tests/support/gotemplate_oracle && go run . templates ../../golden/templates.json
	cd tests/support/gotemplate_oracle && go run . yaml ../../golden/yaml.json
	$(BIN)/python tests/support/jq_oracle.py tests/golden/jq.json
	$(BIN)/python -m tests.support.cel_cases 1800 2026 tests/golden/cel_random.json
	cd tests/support/cel_oracle && TZ=UTC go run . answer ../../golden/cel.json
	cd tests/support/cel_oracle && TZ=UTC go run . answer ../../golden/cel_random.json
	$(BIN)/python tests/support/regexp_cases.py 450 14 tests/golden/cel_matches.json
	cd tests/support/cel_oracle && TZ=UTC go run . answer ../../golden/cel_matches.json
	cd tests/support/cel_oracle && go run . structs ../../../kwokctl/expr/cel/structs.json

docs: $(VENV)/made ## write the generated pages, and build the site in build/site
	$(BIN)/python docs/generate.py
	@$(BIN)/python docs/build_site.py

build: $(VENV)/made ## sdist and wheel in dist/
	$(BIN)/python -m build

image: $(VENV)/made ## the image of kwok for clusters in dist/ (ARCH=arm64)
	$(BIN)/python image/make_image.py $(if $(ARCH),--arch $(ARCH))

images: $(VENV)/made ## the image of kwok for both processors in dist/
	$(BIN)/python image/make_image.py --arch amd64 --no-load
	$(BIN)/python image/make_image.py --arch arm64 --no-load

image-all: $(VENV)/made ## the image of a whole cluster in dist/; an engine loads it
	$(BIN)/python image/make_cluster_image.py

# Without components the tests that need them are skipped, and say why. A program that a test would have to build
# first takes as long as the machine is busy: all that tests use is built here.
components: $(VENV)/made
	@export KWOK_KUBE_VERSION=$(KUBE_VERSION) KWOK_ETCD_VERSION=$(ETCD_VERSION); \
	$(BIN)/kwokctl artifacts build >/dev/null && $(BIN)/kwokctl artifacts pull --enable metrics-server >/dev/null \
	|| echo "components: not available; tests that need them are skipped"
	@$(BIN)/python -m tests.support.helm || true

clean: ## remove the environment and everything else that git ignores
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The first command of a new user has no use for what tests and checks need: four fifths of the environment.
$(VENV)/installed: pyproject.toml tests/support/setup-venv
	@tests/support/setup-venv "$(PYTHON)" "$(VENV)"

$(VENV)/made: pyproject.toml tests/support/setup-venv
	@tests/support/setup-venv "$(PYTHON)" "$(VENV)" dev,docs
