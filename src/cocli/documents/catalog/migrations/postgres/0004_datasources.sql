-- One row for each object: two datasources may have documents of one id, and each has its own states.
ALTER TABLE pipedocs DROP CONSTRAINT pipedocs_pkey;
ALTER TABLE pipedocs ADD PRIMARY KEY (uuid, cluster, datasource, connector);
ALTER TABLE pipedocs DROP CONSTRAINT pipedocs_account_doc_cluster_address_key;
CREATE INDEX pipedocs_by_document ON pipedocs (account, doc, cluster, address);

ALTER TABLE untold DROP CONSTRAINT untold_pkey;
ALTER TABLE untold ADD COLUMN connector TEXT COLLATE "C";
ALTER TABLE untold ADD COLUMN datasource TEXT COLLATE "C";
UPDATE untold SET connector = pipedocs.connector, datasource = pipedocs.datasource
FROM pipedocs WHERE pipedocs.uuid = untold.uuid AND pipedocs.cluster = untold.cluster;
DELETE FROM untold WHERE connector IS NULL;
ALTER TABLE untold ADD PRIMARY KEY (uuid, cluster, datasource, connector);

-- The same content from two datasources is two steps. '' is what was remembered before: of either.
ALTER TABLE memo ADD COLUMN origin TEXT NOT NULL DEFAULT '';  -- a short hash of connector and datasource
ALTER TABLE memo DROP CONSTRAINT memo_pkey;
ALTER TABLE memo ADD PRIMARY KEY (account, doc, node, cluster, input_digest, code_digest, origin);

ALTER TABLE job_outcomes ADD COLUMN datasource TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE job_outcomes ADD COLUMN connector TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE job_outcomes DROP CONSTRAINT job_outcomes_pkey;
ALTER TABLE job_outcomes ADD PRIMARY KEY (job, doc, address, datasource, connector);
