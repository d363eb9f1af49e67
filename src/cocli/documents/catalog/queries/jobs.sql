-- {job} are the columns of a job, {outcome} those of an outcome, {…_values} their parameters.

-- name: add_job
INSERT INTO jobs ({job}) VALUES ({job_values});

-- name: read_job
SELECT {job} FROM jobs WHERE account = :account AND job = :job;

-- name: list_jobs
SELECT {job} FROM jobs WHERE account = :account ORDER BY planned_at DESC, job DESC LIMIT :limit;

-- name: list_jobs_before
SELECT {job} FROM jobs WHERE account = :account AND (planned_at, job) < (:planned_at, :job)
ORDER BY planned_at DESC, job DESC LIMIT :limit;

-- name: unfinished_job
SELECT {job} FROM jobs
WHERE account = :account AND kind = :kind AND plan = :plan AND state NOT IN ('done', 'cancelled')
ORDER BY planned_at DESC, job DESC LIMIT 1;

-- One runner at a time: whoever holds it, or whoever comes after one that did not renew.
-- name: take_job
UPDATE jobs SET holder = :holder, held_until = :until, state = 'running', error = NULL, finished_at = NULL,
    started_at = COALESCE(started_at, :now)
WHERE job = :job AND state NOT IN ('done', 'cancelled') AND (holder IS NULL OR held_until < :now);

-- name: renew_job
UPDATE jobs SET held_until = :until WHERE job = :job AND holder = :holder;

-- name: advance_job
UPDATE jobs SET held_until = :until, position = :position, done = done + :done, unchanged = unchanged + :unchanged,
    skipped = skipped + :skipped, failed = failed + :failed
WHERE job = :job AND holder = :holder;

-- What was asked for meanwhile (a pause) stays; only a running job ends.
-- name: leave_job
UPDATE jobs SET holder = NULL, held_until = NULL,
    error = CASE WHEN state = 'running' THEN :error ELSE error END,
    finished_at = CASE WHEN state = 'running' THEN :finished_at ELSE finished_at END,
    state = CASE WHEN state = 'running' THEN :state ELSE state END
WHERE job = :job AND holder = :holder;

-- name: stop_job
UPDATE jobs SET state = :state, finished_at = :finished_at
WHERE account = :account AND job = :job AND state NOT IN ('done', 'cancelled');

-- name: add_outcome
INSERT INTO job_outcomes ({outcome}) VALUES ({outcome_values})
ON CONFLICT (job, doc, address, datasource, connector) DO UPDATE SET
    outcome = excluded.outcome, code = excluded.code, error = excluded.error, at = excluded.at;

-- name: list_outcomes
SELECT {outcome} FROM job_outcomes
WHERE account = :account AND job = :job AND (:outcome = '' OR outcome = :outcome)
    AND (doc, address, datasource, connector) > (:after_doc, :after_address, :after_datasource, :after_connector)
ORDER BY doc, address, datasource, connector LIMIT :limit;

-- name: count_outcomes
SELECT address, count(*) FROM job_outcomes
WHERE account = :account AND job = :job AND outcome = :outcome AND code = :code
GROUP BY address ORDER BY address;

-- name: forget_outcomes
DELETE FROM job_outcomes WHERE account = :account AND doc = :doc;

-- name: digests_between
SELECT doc, connector, datasource, address, digest FROM document_states
WHERE account = :account AND doc >= :first AND doc <= :last AND cluster = :cluster AND deleted_at IS NULL;

-- name: memos_between
SELECT doc, origin, input_digest, output_digest FROM memo
WHERE account = :account AND doc >= :first AND doc <= :last AND node = :node AND cluster = :cluster
    AND code_digest = :code_digest;
