# Every target sets up what it needs; a second run finds it there and is quick.
PYTHON ?= python3
VENV := .venv
SEEDS ?= 20000
MINUTES ?= 10
SCENARIO ?= tests/queue/queue_scenario.py:QueueScenario
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# uv takes seconds where pip takes minutes. It does not read pip's configuration: where that names another index, pip installs.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes -r $(1) || \
	$(PIP) install --quiet --require-hashes -r $(1)
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate
COMPILE := $(LOCK) pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo test check lint format types layers pytest browser openid axe scenarios soak chaos fuzz load pictures man wheel bench audit lock clean

help: ## Show what can be done here
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: $(VENV)/.run ## Run the main job offline on a folder of its own
	@$(BIN)/python -m cocli.demo .demo

man: $(VENV)/.run ## Write the manual pages: make man DIR=~/.local/share/man/man1
	@$(BIN)/python -m cocli.cli.kit.man_pages $(or $(DIR),.man/man1)

test: check pytest ## Format, lint, types, layers, tests

check: lint types layers ## Everything but the tests

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
pytest: $(VENV)/.dev browser axe ## Run the tests alone: make pytest ARGS='tests/store -k race'
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 4 --dist worksteal -q $(ARGS)

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

axe: ## Install axe-core, which judges the pages of the dashboard; where there is no npm, its judgements are left out
	@test -f $(VENV)/axe/node_modules/axe-core/axe.min.js || { command -v npm >/dev/null && \
		npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4.14.0 >/dev/null; } || \
		echo "no axe-core: the pages are tested without it; npm installs it"

scenarios: $(VENV)/.dev browser openid ## Run every way through the program on a folder and on S3: takes minutes
	@COCLI_TEST_EFFORT=2 PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 -q tests/scenarios tests/cli/test_editions.py tests/web/test_map.py tests/service/web/test_openid.py $(ARGS)

soak: $(VENV)/.dev ## Simulate 20,000 schedules: make soak SCENARIO=tests/index/index_scenario.py:IndexScenario SEEDS=20000
	@$(BIN)/python -m tests.kit.simulator $(SCENARIO) --seeds $(SEEDS) --jobs 2

chaos: $(VENV)/.dev ## Kill the processes of the main job at random until it ends: takes long
	@$(BIN)/pytest -q tests/chaos/soak.py

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
	@$(COMPILE) --group build --group dev --all-extras -c requirements/run.txt -o requirements/dev.txt
	@$(COMPILE) --group bench -c requirements/dev.txt -o requirements/bench.txt
	@echo 'uv' | $(LOCK) - -c requirements/dev.txt -o requirements/uv.txt

clean: ## Remove the virtual environment, caches and demo data
	rm -rf $(VENV) .man .demo .fuzz .wheel .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

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

$(VENV)/.bench: requirements/bench.txt $(VENV)/.dev
	@echo "setting up: the peers of the benchmarks in requirements/bench.txt"
	@$(call INSTALL,requirements/bench.txt)
	@touch $@
