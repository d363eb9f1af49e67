-- {memo} are the columns of a memo, {memo_values} their parameters.

-- name: remember
INSERT INTO memo ({memo}) VALUES ({memo_values})
ON CONFLICT (account, doc, node, cluster, input_digest, code_digest, origin)
DO UPDATE SET output_digest = excluded.output_digest, at = excluded.at;

-- name: recall
SELECT {memo} FROM memo
WHERE account = :account AND doc = :doc AND node = :node AND cluster = :cluster
    AND input_digest = :input_digest AND code_digest = :code_digest AND origin IN (:origin, '')
ORDER BY origin DESC LIMIT 1;

-- name: forget
DELETE FROM memo WHERE account = :account AND doc = :doc;

-- name: clear_memos
DELETE FROM memo;
