"""What `--json` prints, command by command: the keys of every document. The reference is made from it."""

_DOCUMENT_ROW = (
    '"doc", "cluster", "address", "connector", "datasource", "uuid", "version", "digest", "parent_digest", "size", '
    '"content_type", "filename", "source_uri", "http_status", "saved_at", "deleted_at", "purged_at", "nodes"'
)
_QUARANTINED = (
    '"doc", "datasource", "node", "code", "message", "retryable", "released", "released_by", "whole", "since"'
)
_RETENTION = (
    '{"campaign", "dry_run", "kinds": [{"kind", "age", "count", "bytes", "kept_as_evidence", "values_naming_them", '
    '"removed"}], "held_back": {kind: reason}, "problems": [text]}'
)
_JOB = (
    '{"id", "kind", "state", "cluster", "total", "done", "unchanged", "skipped", "failed", "error", "planned_at", '
    '"finished_at"}'
)
_REPLAYED = (
    '{"account", "dry_run", "forecast": {"documents", "skipped", "to_do"}, "job": ' + _JOB + ', "without_node": '
    '{"count", "examples"}}'
)
_DIFFERENCES_OF_RECORDS = (
    '{"same", "changed", "new", "gone", "examples_new", "examples_gone", "fields": [{"field", "changed", "examples": '
    '[{"what", "left", "right"}]}]}'
)
_SYNC_RUN = (
    '{"direction", "folder", "bucket", "campaign", "dry_run", "counts": {"uploaded", "downloaded", "merged", '
    '"kept_both", "deleted_there", "deleted_here", "held_here", "held_there", "behind", "ahead", "adopted", '
    '"forgotten"}, "unchanged", "bytes_up", "bytes_down", "indexes": [{"index", "outcome", "version", "objects", '
    '"bytes", "records"}], "conflicts": [{"key", "copy"}], "failed": [{"key", "code", "message"}], "skipped": '
    '[{"key", "reason"}], "seconds"}, with --dry-run "counts" by action such as "upload", "bytes", "steps": '
    '[{"key", "action", "bytes"}]'
)
_DEPLOYED = (
    '{"ok", "hosts": [{"host", "outcome": "deployed", "already", "rolled_back", "would_deploy", "would_roll_back" or '
    '"failed", "build", "before", "seconds": {step: seconds}, "notes": [text], "problem": an error or null}]}; the '
    "exit code is not 0 if a host has a problem"
)
_ON_A_HOST = (
    '{"python", "executable", "machine", "system", "libc", "clock", "free", "hostname", "root", "manager", "base", '
    '"writable", "current", "previous", "releases", "deps", "instances": [{"name", "host", "store", "campaigns", '
    '"secrets", "running"}]}'
)
_SNAPSHOT = (
    '{"id", "name", "time", "source", "host", "program", "previous", "objects", "bytes", "stored_objects", '
    '"stored_bytes"}'
)
_DAMAGE = '"damage": [{"object", "reason", "snapshots": [name], "keys", "ranges"}]'
_DIFFERENCES = (
    '"sites", "emails": {"recovered", "lost", "changed", "same", "still_none"}, "phones": the same, '
    '"statuses": [{"change", "count"}], "examples": [{"domain", "difference", "before": {"status", "primary_email", '
    '"emails", "phones"}, "after": the same}]}'
)
_IMPORTED = (
    '"format", "encoding", "delimiter", "mapping": {field: column}, "unused", "further": {field: [column]}, "rows", '
    '"blank", "new", "changed", "unchanged", "moved", "excluded", "emails", "unread": {field: count}, "refused": '
    '[{"number", "reason", "text"}], "examples": [{"row", "emails", fields of a place}], "sheet", "named_by_domain", '
    '"websites", "queued", "overlooked": {column: what it holds}, "closed", "document"'
)

_FIGURES = (
    '"figures": {"searches": {"planned", "read", "cut_short", "waiting", "unread": {reason: count}, "unqueued"}, '
    '"places": {"waiting", "unread"}, "businesses", "excluded", "with_website", "with_email", "websites": {"known", '
    '"read", "dead", "refused", "closed", "waiting", "unread": {reason: count}, "unqueued"}, "emails"}'
)
_PLANNED = '{"stack", "status": "would_deploy", "new", "changes": [{"action", "name", "kind"}]}'
_POOL_USER = '{"user": {"email", "pool", "group", "status": "added", "already_there", "removed" or "already_gone"}}'
_ROUTE = '{"datasource", "edition", "state", "seeded", "recrawls", "since"}'
_SUPPRESSION = (
    '"kind", "sha256", "value", "salt", "calling_code", "reason", "until", "forgotten", "removed", "added_by", '
    '"added_at", "updated_at"'
)
DOCUMENTS = {
    "cocli init": '{"steps": [{"what", "path", "status": "created" or "already_there"}]}',
    "cocli campaign new": '{"campaign": {"name", "key", "path"}}',
    "cocli campaign list": '{"campaigns": [{"name", "queries", "places", "changed", "problem", "territory", '
    + _FIGURES
    + ' or null, "figures_at"}]}',
    "cocli campaign show": '{"campaign", "path", "store", "settings": {section: {key: value}}, '
    + _FIGURES
    + " or null}",
    "cocli campaign edit": '{"campaign": {"name", "path", "status": "changed" or "already_so"}}',
    "cocli campaign rm": '{"campaign", "status": "removed" or "would_remove", "paths", "objects", "bytes"}',
    "cocli campaign plan": '{"campaign", "targets": {"places", "tiles", "phrases", "targets", "added", '
    '"already", "surplus", "removed", "version", "dry_run", "surplus_examples"}, "mission": {"targets", "sources", '
    '"since", "counts": {"tasks", "unread", "stale", "blocked", "split", "missing", "sidelined"}, "outcomes": '
    '{"queued" or "would_queue", "already_…"}, "estimate", "harvested", "harvest": {"tiles", "businesses", '
    '"from_files", "missing", "examples", "dry_run"}, "dry_run", "left"} or null, "estimate": {"tasks", "requests", '
    '"hours", '
    '"workers", "store_writes", "dollars", "elapsed_hours"}}',
    "cocli campaign coverage": '{"campaign", "at", "since", "sources", "totals": {"name", "pairs", "read", "stale", '
    '"cut_short", "blocked", "unread", "read_share", "found", "expected", "expected_pairs", "found_of_expected", '
    '"recapture": {"pairs", "seen", "total", "low", "high", "missing", "completeness"}, "completeness", "oldest_days", '
    '"newest_days"}, "phrases": [totals], "overlaps": [{"first", "second", "first_found", "second_found", "both", '
    '"population": as recapture}], "pairs": [{"tile", "phrase", "source", "state", "found", "expected", "missing", '
    '"age_days"}], "truncated", "written": {kind: path}}',
    "cocli campaign migrate": '{"campaign", "dry_run", "made_campaign", "not_taken": [key], "records", "rejected", '
    '"files": {"companies", "notes", "meetings", "people"}, "already", "tasks": {queue: count}, "problems": [text]}',
    "cocli campaign settle": '{"campaign", "prospects", "moved", "joined"}, with --everything also "harvested", '
    '"queued", "pages_created", "pages_changed", "completions", "searched", "report", "published", "changes", '
    '"swept", "expired": {kind: count}',
    "cocli campaign retry": '{"campaign", "dry_run", "passes": [{"choice", "queue", "outcomes": {outcome: count}}], '
    '"batch", "rejected": [{"line", "reason"}], "without_email": {"prospects", "missing", "reasons": [{"reason", '
    '"count"}], "rows": [{"company_hash", "name", "domain", "website", "country", "reason", "evidence"}]} or null, '
    '"written"}; with --result {"campaign", "batch", "created_at", "tasks": {"completed", "sidelined", "waiting"}, '
    '"before": {"prospects", "with_email"}, "now": {"prospects", "with_email"}, ' + _DIFFERENCES,
    "cocli campaign changes": '{"campaign", "since", "taken_at", "watched_since", "counts": {kind: count}, "excluded", '
    '"changes": [{"change_id", "company_hash", "name", "kind", "before", "after", "before_at", "after_at", '
    '"before_document", "after_document", "source", "reason", "found_at", "source_ids", "city"}]}',
    "cocli campaign refresh": '{"campaign", "dry_run", "every", "files": {"due", "read", "loaded"}, "due": [{"queue", '
    '"reason", "tasks", "requests"}], "requests", "budget", "spent", "round", "outcomes": {outcome: count}, "left", '
    '"notes", "changes", "postponed"}',
    "cocli campaign tell": '{"campaign", "dry_run", "watches": [{"watch", "new", "told", "written", "problem"}]}',
    "cocli campaign publish": '{"campaign", "path", "link", "until", "prospects", "files": [{"name", "rows", "bytes", '
    '"link"}], "problem"}; links are null where there is nothing to open them with',
    "cocli campaign re-extract": '{"campaign", "cluster", "dry_run", "job": {"id", "state", "total", "failed"}, '
    '"pages": {"compared", "identical", "different", "unreadable", "facts": [{"field", "same", "gained", "lost"}]}, '
    '"applied": {"sites", "prospects", "emails"} or null, ' + _DIFFERENCES + ', with --dry-run "forecast": '
    '{"documents", "skipped", "to_do"}',
    "cocli campaign use": '{"campaign", "status": "in_use", "none", "forgotten" or "already_none"}',
    "cocli config set": '{"path", "status": "changed" or "already_so"}',
    "cocli config unset": '{"path", "status": "changed" or "already_so"}',
    "cocli config edit": '{"path", "status": "changed" or "already_so"}',
    "cocli config show": '{"settings": [{"name", "value", "origin", "is_default"}]}',
    "cocli doctor": '{"ok", "store_safe", "checks": [{"name", "status", "detail", "fix"}]}, status such as ok',
    "cocli locate": '{"location": {"what", "path", "key", "exists"}}, without a kind {"locations": [the same]}',
    "cocli worker": '{"campaign", "queue", "worker", "ended": {"completed", "already_completed", "waiting", '
    '"sidelined", "lost", "released"}, "completed", "rate_per_minute", "seconds", "whole", "last_error", '
    '"limited_by", "longest_lag"}; '
    "whole is false where something was given back unfinished",
    "cocli schedule": '{"campaign", "manager": "systemd" or "cron", "state": "printed", "installed", '
    '"already_installed", "removed" or "already_removed", "texts": [{"file", "text"}], "commands"}; with --run '
    '{"campaign", "name", "outcome": "ran", "failed", "already_done", "running_elsewhere" or "lost", "code", '
    '"problem"}',
    "cocli supervisor": '{"campaign", "campaigns", "host", "completed": {queue: count}, "restarts", "commands", '
    '"whole"}',
    "cocli remote send": '{"campaign", "commands": [{"id", "target", "text", "state", "sent_by", "sent_at", "host", '
    '"message", "at"}]}; state is waiting, running, done, already or failed',
    "cocli remote ls": '{"campaign", "commands": [{"id", "target", "text", "state", "sent_by", "sent_at", "host", '
    '"message", "at"}]}',
    "cocli remote show": '{"campaign", "id", "target", "text", "state", "sent_by", "sent_at", "host", "message", "at"}',
    "cocli cluster status": '{"campaign", "at", '
    + _FIGURES
    + ' or null, "hosts": [{"host", "state", "campaign", "seen_seconds_ago", '
    '"clock_ahead_seconds", "started_at", "stopped_at", "cpu_percent", "ram_percent", "ram_bytes", "disk_free_bytes", '
    '"temperature", "versions": {"cocli", "python", "system", "build"}, "workers": {queue: count}, "active": '
    '{queue: count}, "completed": {queue: count}, "rates_per_minute": {queue: rate}, "limited_by": {queue: word}, '
    '"last_error"}], "queues": [as of queue status: '
    '{"queue", "pending", "leased", "expired", "completed", "sidelined", "oldest", "completed_recently", '
    '"recent_seconds", "rate_per_minute", "minutes_left", "as_of", "problem"}], "paused", "upkeep": '
    '{"elected", "by", "settled_at", "finished_at", "seconds", "problem"}, '
    '"problems": [{"kind", "subject", "message", "hint"}]}; exit code 1 if there are problems',
    "cocli cluster top": 'as `cluster status`: {"campaign", "at", '
    + _FIGURES
    + ', "hosts", "queues": [{"queue", "pending", "leased", '
    '"expired", "completed", "sidelined", "oldest", "completed_recently", "recent_seconds", "rate_per_minute", '
    '"minutes_left", "as_of", "problem"}], "paused", "upkeep": {"elected", "by", "settled_at", "finished_at", '
    '"seconds", "problem"}, "problems"}',
    "cocli cluster evict": '{"since", "host", "status": "evicted", "already_evicted" or "would_evict", "evicted_at", '
    '"evicted_by", "reason", "leases_ended", "elections_ended", "commands_withdrawn", "heartbeats_marked", "keys": '
    '[{"store", "access_key", "credentials", "shared_with", "revoke"}], "written": [{"kind", "names_writer": "yes", '
    '"by its tasks" or "no", "count", "note", "examples": [{"what", "campaign", "at", "detail"}]}], "problems"}',
    "cocli infra diff": _PLANNED,
    "cocli infra deploy": '{"stack", "status": "deployed" or "already_so", "changes": [{"action", "name", "kind"}], '
    '"outputs": {name: value}, "settings": {key: value}}; with --dry-run ' + _PLANNED,
    "cocli infra outputs": '{"stack", "status", "outputs": {name: value}, "settings": {key: value}}',
    "cocli infra check": '{"campaign", "checks": [{"name", "ok", "detail"}]}',
    "cocli infra user add": _POOL_USER,
    "cocli infra user rm": _POOL_USER,
    "cocli deploy": _DEPLOYED,
    "cocli deploy hotfix": _DEPLOYED,
    "cocli deploy rollback": _DEPLOYED,
    "cocli deploy status": '{"ok", "hosts": {host: ' + _ON_A_HOST + ' or {"problem"}}}',
    "cocli deploy logs": '{"ok", "hosts": {host: {"lines": {campaign: [line]}} or {"problem"}}}',
    "cocli deploy stop": '{"ok", "hosts": {host: {"seconds": {"drain"}, "current", "previous", "releases", "deps", '
    '"instances"} or {"problem"}}}',
    "cocli deploy remove": '{"ok", "hosts": {host: {"removed": [campaign], "current", "previous", "releases", "deps", '
    '"instances"} or {"problem"}}}',
    "cocli self check": '{"ok", "version", "build", "checks": [{"name", "status", "detail", "fix"}]}',
    "cocli cluster admit": '{"host", "status": "admitted" or "already_admitted", "evicted_at"}',
    "cocli queue status": '{"campaign", "queues": [{"queue", "pending", "leased", "expired", "completed", '
    '"sidelined": {category: count}, "oldest", "completed_recently", "recent_seconds", "rate_per_minute", '
    '"minutes_left", "as_of", "problem"}]}',
    "cocli queue ls": '{"campaign", "queue", "state", "tasks": [{"task_id", "state", "changed", "attempt", "token", '
    '"worker", "until", "category", "verdict", "detail", "payload"}], "truncated"}',
    "cocli queue show": '{"campaign", "queue", "task_id", "states", "task", "lease", "completion", "items", '
    '"sidelined", "problem"}, the records as in format.md',
    "cocli queue put": '{"campaign", "queue", "task_id", "counts": {"queued", "already_pending", "already_completed", '
    '"already_sidelined"} or {"would_put"}, "rejected": [{"line", "reason"}]}',
    "cocli queue release": '{"campaign", "queue", "task_id", "status": "released" or "already_…", "worker", "token", '
    '"attempt", "until"}',
    "cocli queue recover": '{"campaign", "queue", "tasks": [{"task_id", "category", "outcome"}], '
    '"counts": {outcome: count}, "rejected": [{"line", "reason"}]}',
    "cocli queue sideline": '{"campaign", "queue", "task_id", "status": "sidelined" or "already_…", "worker", "token", '
    '"attempt", "until"}',
    "cocli queue purge": '{"campaign", "queue", "status": "removed" or "would_remove", "objects", "bytes", '
    '"counts": {category: count}, "kept"}',
    "cocli index status": '{"campaign", "indexes": [{"index", "campaign", "version", "rows", "shards", "bytes", '
    '"published", "unpacked", "set_aside", "strangers", "damaged", "lost_rows", "has_copy", "problem"}]}',
    "cocli index get": '{"index", "campaign", "version", "record", "extras"}, the record as in format.md',
    "cocli index history": '{"index", "campaign", "truncated", "versions": [{"version", "created_at", "writer", '
    '"rows", "delta_rows", "shards", "bytes", "removed", "lost_rows", "manifest"}]}',
    "cocli index diff": '{"index", "campaign", "old", "new", "counts": {"added", "removed", "changed"}, '
    '"differences": [{"key", "kind", "fields": {field: [old, new]}, "record"}], "truncated"}',
    "cocli index check": '{"campaign", "ok", "indexes": [{"index", "version", "rows", "shards", "bytes", "problems", '
    '"counts": {finding: count}, "examples": {finding: [{"where", "detail"}]}, "ok", "repair": {"version", "pointer", '
    '"restored", "appended", "losses", "lost_rows", "notes"} or null}]}',
    "cocli index query": '{"campaign", "versions": {index: version}, "columns": [{"name", "type"}], "rows": '
    '[{column: value}], "truncated", "unpacked": {index: count}, "damaged", "rejected"}',
    "cocli index compact": '{"campaign", "indexes": [{"index", "status": "packed" or "already_packed", "version", '
    '"rows", "records", "added", "changed", "rejected", "rejects": [{"file", "line", "reason"}], "shards_written", '
    '"deleted", "left", "strangers"}]}, with --dry-run {"index", "status": "would_pack", "waiting"}',
    "cocli index consolidate": '{"campaign", "copies": [{"index", "version", "rows", "path", "status": "built" or '
    '"already_current"}], "searched", "domains", "domains_path", "freed_bytes"}',
    "cocli index backfill": '{"campaign", "status": "filled", "already_filled" or "would_fill", "prospects", '
    '"emails", "domains", "rejected"}',
    "cocli index migrate": '{"campaign", "status": "migrated" or "would_migrate", "plan": {"folder", "options", '
    '"files", "rows", "records", "rejected", "foreign", "identical", "left_out", "layouts"}, "report": '
    '{"rejected_file", "appended": {index: count}, "batches", "already_done", "layouts"}, "rows": {"before", "after"}}',
    "cocli index gc": '{"campaign", "status": "collected" or "would_collect", "indexes": [{"index", "kept_versions", '
    '"live", "young", "condemned", "deleted", "freed_bytes", "strangers"}]}',
    "cocli index purge": '{"campaign", "status": "removed", "already_gone" or "would_remove", "removed", "indexes": '
    '[{"index", "rows", "files", "kept", "campaigns": {campaign: count}}]}',
    **{
        f"cocli documents {verb}": document
        for verb, document in {
            "save": f'{{"account", "outcome": "created", "unchanged" or "updated", {_DOCUMENT_ROW}}}',
            "get": '{"account", "doc", "cluster", "address", "connector", "datasource", "uuid", "digest", "current", '
            '"parent_digest", "source": {"uri", "mime_type", "fetched_at", "http_status", "headers", "filename"}, '
            '"blobs": {name: {"sha256", "size", "mime_type", "filename"}}, "data": {node: {…}}, "steps": [{"node", '
            '"code_digest", "input_digest", "at"}], "errors": [{"node", "code", "message", "retryable", "at"}]}',
            "work": '{"cluster", "nodes": [{"node", "messages": {outcome: count}, "endings": {ending: count}}]}',
            "states": f'{{"account", "doc", "states": [{{{_DOCUMENT_ROW}}}]}}',
            "ls": f'{{"account", "states": [{{{_DOCUMENT_ROW}}}], "next", "unseen"}}',
            "rm": f'{{"account", "dry_run", "states": [{{{_DOCUMENT_ROW}}}]}}',
            "restore": f'{{"account", "states": [{{{_DOCUMENT_ROW}}}]}}',
            "purge": f'{{"account", "doc", "dry_run", "states": [{{{_DOCUMENT_ROW}}}], "proofs": [{{"begun_at", '
            '"purged_at", "purged_by", "reason", "removed": [{"kind", "cluster", "uuid", "digest", "size"}]}]}',
            "quarantine": f'{{"account", "entries": [{{{_QUARANTINED}}}]}}',
            "release": f'{{"account", "dry_run", "entries": [{{{_QUARANTINED}, "problem"}}]}}',
            "fsck": '{"account", "documents", "objects", "blobs", "rows", "events", "open", "findings": [{"problem", '
            '"account", "doc", "detail", "repaired"}]}',
            "replay": _REPLAYED,
            "seed": _REPLAYED,
            "compare": '{"account", "left", "right", "documents", "identical", "different", "only_left", "only_right", '
            '"unreadable", "fields": [{"path", "same", "changed", "gained", "lost", "examples": [{"doc", "datasource", '
            '"verdict", "left", "right"}]}], "examples_only_left", "examples_only_right", "problems", "places": '
            + _DIFFERENCES_OF_RECORDS
            + ", "
            '"prospects": the same or null, "states_read", "missing": {"left", "right"}}',
            "promote": '{"campaign", "edition", "former", "restored", "states_read", "dry_run", "changes": '
            '{"prospects": {"before", "after", "added", "removed", "changed"}, "emails", "domains": the same}}',
            "jobs": f'{{"account", "jobs": [{_JOB}]}}',
            "job": f'{{"account", "job": {_JOB}, "failures": [{{"doc", "address", "code", "error"}}]}}',
            "token": '{"account", "expires", "host", "token", "id", "scopes", "who"}',
            "revoke": '{"id", "outcome": "revoked" or "already_revoked"}',
            "revocations": '{"revocations": [{"token", "revoked_at", "revoked_by", "reason"}]}',
        }.items()
    },
    "cocli enrich": '{"campaign", "sites": [{"domain", "url", "final_url", "status", "evidence", "retryable", '
    '"verdict", "title", "description", "primary_email", "emails": [{"email", "page", "method", "context", "label", '
    '"name", "relation", "document", "delivered", "reason", "confidence"}], "phones": [{"raw", "e164", "page", '
    '"method", "kind", "document", "relation", "conflict"}], "socials": '
    '[{"network", "profile"}], "contact_forms", "technologies", "pages_read", "problems": [{"url", "reason"}], '
    '"requests", "stop", "mx": [{"domain", "state", "hosts"}], "saved", "written": {"prospects", "emails", "domains"}, '
    '"document", "crawled_at"}]}',
    "cocli source add": '{"status": "added" or "already_added", "file": {"id", "source", "filename", "origin", '
    '"sha256", "bytes", "copy_bytes", "release", "rows", "places", "unnamed", "bad", "bad_rows": [{"row", "reason"}], '
    '"covers", "covers_declared", "country", "licence", "attribution", "as_of", "added_at", "path"}}',
    "cocli source ls": '{"files": [{"id", "source", "filename", "origin", "sha256", "bytes", "copy_bytes", "release", '
    '"rows", "places", "unnamed", "bad", "bad_rows": [{"row", "reason"}], "covers", "covers_declared", "country", '
    '"licence", "attribution", "as_of", "added_at", "path"}], "sources": [{"source", "title", "licence", '
    '"attribution", "link", "rank", "reads_files", "is_asked"}]}',
    "cocli source rm": '{"status": "removed" or "would_remove", "file": {"id", "source", "filename", "origin", '
    '"sha256", "bytes", "copy_bytes", "release", "rows", "places", "unnamed", "bad", "bad_rows": [{"row", "reason"}], '
    '"covers", "covers_declared", "country", "licence", "attribution", "as_of", "added_at", "path"}}',
    "cocli source check": '{"source", "rows", "places", "unnamed", "bad", "bad_rows": [{"row", "reason"}], "covers", '
    '"licence", "attribution"}',
    "cocli source fetch": '{"status": "added" or "already_added", "file": {"id", "source", "filename", "origin", '
    '"sha256", "bytes", "copy_bytes", "release", "rows", "places", "unnamed", "bad", "bad_rows": [{"row", "reason"}], '
    '"covers", "covers_declared", "country", "licence", "attribution", "as_of", "added_at", "path"}}',
    "cocli source categories": '{"phrase", "sources": [{"source", "matched_by": "categories" or "words", "categories", '
    '"words", "taken", "files", "found"}]}',
    "cocli find": '{"query", "searched", "matches": [{"kind", "id", "campaign", "title", "detail", "path", '
    '"excluded_in"}], '
    '"truncated"}',
    "cocli company ls": '{"companies": [{"slug", "name", "website", "phone", "email", "address", "status", "tags", '
    '"campaigns", "company_hash", "problem"}], "truncated"}',
    "cocli company show": '{"company": {"slug", "name", "website", "phone", "email", "address", "status", "tags", '
    '"campaigns", "company_hash", "problem"}, "path", "record", "body", "notes": [{"slug", "name", "title", "date", '
    '"tags", "text", "problem"}], "meetings": [the same with "place", "attendees"], "people": [as in person ls]}, '
    "the record as in format.md",
    "cocli company new": '{"company": {"slug", "path", "status": "created" or "already_there"}}',
    "cocli company open": '{"company": {"slug", "path", "status": "changed" or "already_so"}}',
    "cocli company tag": '{"company": {"slug", "path", "status": "changed" or "already_so"}}',
    "cocli company untag": '{"company": {"slug", "path", "status": "changed" or "already_so"}}',
    "cocli company exclude": '{"slug", "campaign", "setting", "value", "status": "excluded", '
    '"included" or "already_so"}',
    "cocli company refresh": '{"campaigns", "status": "refreshed" or "would_refresh", "counts": {"prospects", '
    '"created", "changed", "unchanged", "excluded", "moved", "joined", "removed", "removed_meanwhile"}, "beside", '
    '"problems"}',
    "cocli company edit": '{"company": {"slug", "path", "status": "changed" or "already_so"}}',
    "cocli company merge": '{"status": "merged", "kept", "gone", "files", "note"}',
    "cocli company split": '{"status": "split", "campaign", "company_hash", "name", "part": {"company_hash", "name"}}; '
    'with --dry-run {"status": "would_split", "company_hash", "name", "parts": [{"company_hash", "name", "address", '
    '"website", "phone", "reason", "source_ids"}], "problems"}',
    "cocli company rm": '{"status": "removed" or "would_remove", "slug", "path", "files", "has_text"}',
    "cocli company restore": '{"company": {"slug", "status": "restored"}}',
    "cocli person ls": '{"people": [{"slug", "name", "role", "company", "email", "phone", "tags", "problem"}], '
    '"truncated"}',
    "cocli person show": '{"person": {"slug", "name", "role", "company", "email", "phone", "tags", "problem"}, "path", '
    '"body"}',
    "cocli person new": '{"person": {"slug", "path", "status": "created" or "already_there"}}',
    "cocli person open": '{"person": {"slug", "path", "status": "changed" or "already_so"}}',
    "cocli person rm": '{"person": {"slug", "path", "status": "removed"}}',
    "cocli note add": '{"note": {"slug", "title", "date", "path", "status": "created"}}',
    "cocli note ls": '{"notes": [{"slug", "name", "title", "date", "tags", "text", "problem"}], "truncated"}',
    "cocli note edit": '{"note": {"slug", "name", "path", "status": "changed" or "already_so"}}',
    "cocli note rm": '{"note": {"slug", "name", "path", "status": "removed"}}',
    "cocli meeting add": '{"meeting": {"slug", "title", "date", "path", "status": "created"}}',
    "cocli meeting ls": '{"meetings": [{"slug", "name", "title", "date", "tags", "text", "problem", "place", '
    '"attendees", "at"}], "truncated"}',
    "cocli meeting next": '{"meetings": [{"slug", "name", "title", "date", "tags", "text", "problem", "place", '
    '"attendees", "at"}], "truncated"}',
    "cocli meeting rm": '{"meeting": {"slug", "name", "path", "status": "removed"}}',
    "cocli export": '{"campaign", "path", "format", "rows", "bytes", "excluded", "merged", "filtered", '
    '"without_position", "by_hand", "columns", "problems", "attribution", "beside", "notes"}',
    "cocli run": f'{{"campaign", "is_new", "out", "import": {{{_IMPORTED}}}, "status": "done" or "unfinished", '
    '"ending", "nothing_new", "counts": {"rows", "businesses", "websites", "read", "unreadable": {reason: count}, '
    '"waiting", "with_email", "with_phone", "unread_phones"}, "notes", "seconds", "html"}, with --dry-run {"campaign", '
    '"is_new", "out", "import", "status": "would_run"}; of a campaign as of its older name, below',
    "cocli import": f'{{"campaign", "status": "imported" or "would_import", {_IMPORTED}}}, with --explain {{"file", '
    '"format", "encoding", "rows", "status": "explained", "columns": [{"column", "field" or null, "why", "holds": '
    '{what: count}, "examples"}]}',
    "cocli report": '{"schema", "campaign", "at", "version", '
    + _FIGURES
    + ', "prospects", "merged", "funnel": [{"name", "unit", '
    '"count", "share"}], "coverage": {"sources", "targets", "readings", "read", "stale", "cut_short", "blocked", '
    '"unread", "found", "completeness"} or null, "fields": [{"field", "filled", "share"}], "emails": {"addresses", '
    '"undeliverable", "prospects", "by_source": [{"name", "count"}], "by_method", "by_relation", "by_label", '
    '"by_verification": the '
    'same}, "sources", "attribution": [text], "categories", "domains": the same, "queues": [{"queue", "pending", '
    '"leased", "expired", '
    '"completed", "sidelined": {category: count}, "rate_per_minute", "problem"}], "trend": [{"at", "told_by", '
    '"prospects", "with_email", "addresses", "read"}], "changes": [{"name", "count"}], "versions": {index: version}, '
    '"unpacked": {index: count}, '
    '"path", "problem", "written"}',
    "cocli why": '{"campaign", "company_hash", "name", "moved_from", "merged", "fields": [{"field", "value", '
    '"source", "observed_at", "document", "reason"}], "written": [{"key", "value", "file"}]}, with a field '
    '{"campaign", "company_hash", "name", "field", "value", "rule", "meaning", "moved_from", "merged", "written": '
    '{"key", "value", "file"} or null, "observations": [{"value", "source", "observed_at", '
    '"told_by", "kept", "weight", "reason", "document", "record"}], "emails": [{"email", "page", "method", '
    '"context", "label", "name", "relation", "reason", "chosen", "confidence", "verification", "first_seen", '
    '"last_seen", "document"}], "documents": '
    '[{"uuid", "doc", "connector", "node", "uri", "fetched_at", "saved_at", "digest", "version", "kept_at", '
    '"command", "catalogued", "deleted_at", "made_of"}], "problems", "left_behind"}',
    "cocli sync push": _SYNC_RUN,
    "cocli sync pull": _SYNC_RUN,
    "cocli sync both": _SYNC_RUN,
    "cocli sync status": '{"folder", "bucket", "campaign", "counts": {action such as "upload": files}, "unchanged", '
    '"bytes", "indexes": [{"index", "outcome", "version", "objects", "bytes", "records"}], "steps": [{"key", '
    '"action", "bytes"}], "failed": [{"key", "code", "message"}], "skipped": [{"key", "reason"}], "last_run", '
    '"last_whole_run", '
    '"last_direction", "state", "copies": [{"key", "copy", "size", "original_exists"}]}',
    "cocli sync resolve": '{"copies": [{"key", "copy", "size", "original_exists"}], "taken": "file", "copy" or null}',
    "cocli sync": _SYNC_RUN,
    "cocli backup create": '{"backup", "snapshot": ' + _SNAPSHOT + "}",
    "cocli backup ls": '{"backup", "snapshots": [' + _SNAPSHOT + ']}; with KEY {"key", "versions": [{"snapshot", '
    '"time", "key", "size", "sha256", "modified"}]}, null where it was gone; with --snapshot {"snapshot": '
    + _SNAPSHOT
    + ', "entries": [{"key", "size", "sha256", "modified"}]}',
    "cocli backup verify": '{"backup", "ok", "quick", "snapshots", "lists", "packs", "contents", "bytes", "unused", '
    + _DAMAGE
    + "}",
    "cocli backup restore": '{"snapshot": ' + _SNAPSHOT + ', "to", "dry_run", "missing", "same", "different": [key], '
    '"others", "bytes"}, without --dry-run also "written", ' + _DAMAGE,
    "cocli backup prune": '{"backup", "dry_run", "kept": [' + _SNAPSHOT + '], "forgotten": the same, "condemned": '
    '{"objects", "bytes"}, "removed": {"objects", "bytes"}, "damaged"}',
    "cocli documents events": '{"account", "max_waiting_events", "destinations": [{"destination", "waiting", '
    '"set_aside", "since", "attempts", "last_error"}]}',
    "cocli documents subscribe": _ROUTE,
    "cocli documents unsubscribe": '{"datasource", "edition", "status": "unsubscribed"}',
    "cocli documents subscriptions": f'{{"subscriptions": [{_ROUTE}]}}',
    "cocli documents recrawl": f'{{"subscriptions": [{_ROUTE}]}}',
    "cocli suppress add": f'{{"action": "add", "entries": [{{"status", {_SUPPRESSION}}}]}}',
    "cocli suppress rm": f'{{"action": "rm", "entries": [{{"status", {_SUPPRESSION}}}]}}',
    "cocli suppress list": f'{{"entries": [{{{_SUPPRESSION}}}]}}',
    "cocli suppress check": f'{{"suppressed", "because": [{{{_SUPPRESSION}}}]}}',
    "cocli suppress import": '{"dry_run", "rows", "columns", "kind", "added", "already", "unread", "without"}',
    "cocli forget": '{"dry_run", "resumed", "subjects": [{"kind", "sha256"}], "texts", "kept_because_shared", '
    '"counts": [{"what", "done", "count"}], "written_by_people", "beyond_reach", '
    '"remaining": [{"kind", "number", "reason", "told"}], "republished", "proof"}; '
    'with --again {"proofs", "objects", "remaining"}',
    "cocli subject-access": '{"made_at", "subjects": [{"kind", "value"}], "texts", "do_not_contact": [entry], '
    '"records": [{"campaign", "index", "values", "origins"}], "objects": [{"key", "size", "date", "source", '
    '"excerpts"}]}',
    "cocli register": '{"campaign", "at", "controller", "contact", "purpose", "basis", "recipients", "activities": '
    '[{"name", "data", "people", "sources": [{"name", "licence", "attribution", "link"}], "where", "kept_for"}], '
    '"measures", "missing"}',
    "cocli retention show": _RETENTION,
    "cocli retention apply": _RETENTION,
    "cocli retention proofs": '{"campaign", "records": [{"schema", "kind", "rule", "by", "at", "with_evidence", '
    '"items": [{"name", "digest", "size"}]}]}',
    "cocli store ls": '{"entries": [{"key", "size", "modified", "etag", "folder"}]}',
    "cocli store put": '{"key", "etag", "bytes"}',
    "cocli store rm": '{"key", "status": "removed" or "would_remove", "objects", "bytes"}',
    "cocli store du": '{"folders": [{"key", "objects", "bytes"}], "total": {"objects", "bytes"}}',
    "cocli web deploy": '{"place", "campaigns": [name], "written": [path], "unchanged", "removed": [path], "bytes", '
    '"invalidation", "left_out": [field], "expires_at", "dry_run"}',
}
"""The document of every command that has `--json`; a test runs each of them and compares."""
OLDER_DOCUMENTS = {
    "cocli campaign achieve-goal": '{"campaign", "met", "ending": "met", "exhausted", "budget" or "interrupted", '
    '"goal": {"emails", "companies"}, "missing": {"emails", "companies"}, "records": {"companies", "with_website", '
    '"with_email", "emails"}, '
    + _FIGURES
    + ', "skipped": [text], "targets", "queues": {queue: {"pending", "in_hand", "later", "completed", '
    '"sidelined"}}, "seconds", "rate_per_minute", "report", "html", "whole"}',
    "cocli campaign build-mission-index": '{"campaign", "places", "tiles", "phrases", "targets", "added", "already", '
    '"surplus", "removed", "version", "dry_run", "surplus_examples"}',
    "cocli campaign queue-mission": '{"campaign", "targets", "sources", "since", "counts": {"tasks", "unread", '
    '"stale", "blocked", "split", "missing", "sidelined"}, "outcomes": {"queued" or "would_queue", "already_…"}, '
    '"estimate": {"tasks", "requests", "hours", "workers", "store_writes", "dollars", "elapsed_hours"}, "harvested", '
    '"harvest": {"tiles", "businesses", "from_files", "missing", "examples", "dry_run"}, "dry_run", "left"}',
    "cocli campaign kml": '{"campaign", "path", "what", "tiles", "prospects", "without_position", "bytes"}',
    "cocli campaign missing-emails": '{"campaign", "prospects", "missing", "reasons": [{"reason", "count"}], "rows": '
    '[{"company_hash", "name", "domain", "website", "country", "reason", "evidence"}], "written"}',
    "cocli campaign enqueue-batch": '{"campaign", "batch", "key", "sites", "outcomes": {"queued" or "would_queue", '
    '"already_…"}, "rejected": [{"line", "reason"}], "dry_run"}',
    "cocli campaign evaluate-batch": '{"campaign", "batch", "created_at", "tasks": {"completed", "sidelined", '
    '"waiting"}, "before": {"prospects", "with_email"}, "now": {"prospects", "with_email"}, ' + _DIFFERENCES,
    "cocli index verify": '{"campaign", "ok", "indexes": [{"index", "version", "rows", "shards", "bytes", '
    '"problems"}]}',
    "cocli index audit": '{"campaign", "ok", "indexes": [{"index", "version", "rows", "counts": {finding: count}, '
    '"examples": {finding: [{"where", "detail"}]}}]}',
    "cocli index repair": '{"index", "campaign", "status": "repaired" or "already_sound", "version", "pointer", '
    '"restored", "appended", "losses", "lost_rows", "notes"}, with --dry-run "would_repair" and "problems"',
}
"""Of commands that are kept under their older name: see `cocli.cli.older_names`."""
