"""Nodes and edges: who works on a document, and how it gets from one to the next. docs/graph.md says what holds.

- `node`, `condition`, `edge`, `graph`, `faults`, `definition`: what a graph is, and what may be wrong with one.
- `engine` (the door), `journey`, `memory`, `quarantine`, `run`, `trouble`, `views`: how a document goes through it.
- `destination`, `transport`, `publishing`, `worker`: references as messages; `queue_transport` and `kafka_transport`
  (with `kafka_consumer`) carry them.
- `replay`, `seed`, `jobs`, `selection`, `job_*`, `engines/*`: everything that was fetched, through a graph again; a job
  is a row of the catalogue that can be paused, killed and gone on with. docs/replay.md says what holds.
- `compare`, `compare_fields`: two editions, field by field.

The doors, in the order in which they are used:

    query = DocumentQuery(datasource=…, doc=…, uri_prefix=…, http_status=…, saved_from=…, saved_before=…)  # selection
    plan = ReplayPlan.of(engine, query=query, start="intake" | node, source=edition | None, memo=True, rate=None)
    preview_replay(engine, account, plan) -> Forecast                                     # a dry run: writes nothing
    plan_replay(engine, account, plan) -> Job                                             # replay
    plan_seed(engine, account, datasource) -> Job                                         # seed
    run_job(engine, account, job_id, crew=None, on_progress=None, stop=None) -> Job       # jobs: begins or goes on
    pause_job / cancel_job(repository, account, job_id, clock=…) -> Job; find_job, list_jobs, list_outcomes
    ProcessCrew(workplace, jobs=N), RayCrew(workplace, jobs=N, address=…)                 # engines.processes, .ray
    compare_editions(repository, account, left, right, datasource=None, doc=None) -> Comparison   # compare
"""
