"""The closed list of error codes: what each means, what helps, and the HTTP status of a request refused as a whole."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from chronofact.contracts.adjudicator_codes import ADJUDICATOR_CODES
from chronofact.contracts.text_codes import TEXT_COMMAND_CODES, TEXT_REMEDIES, TEXT_REQUEST_CODES
from chronofact.contracts.topic_codes import TOPIC_CODES

_COMMAND: Final = TEXT_COMMAND_CODES | {
    # shape
    "command_not_object": "A command is a JSON object.",
    "field_missing": "A required field is absent.",
    "field_unknown": "A field that no command of this type has.",
    "field_type": "A field has the wrong JSON type.",
    "field_value": "A field is none of the words that it may be.",
    "field_empty": "A field is empty.",
    "field_too_long": "A field is longer than its limit.",
    "type_unknown": "`type` names no command.",
    # JSON that can't be kept as it is
    "json_key_repeated": "An object names a key twice, and which one counts would be a guess.",
    "number_not_finite": "NaN, an infinity, or a number beyond a double, like 1e400.",
    "integer_unsafe": "An integer beyond 2^53 that canonical JSON would change; send it as a string.",
    "nesting_too_deep": "Arrays and objects nest deeper than 64.",
    "surrogate_lone": "A text has a lone surrogate, which is not valid Unicode.",
    "nul_character": "A text has the character U+0000, which Postgres can't hold.",
    "value_too_large": "The value's canonical JSON is larger than 64 KiB.",
    # time
    "instant_malformed": "Not an RFC 3339 instant of the calendar.",
    "offset_missing": "An instant has no offset from UTC.",
    "leap_second": "An instant has second 60.",
    "year_out_of_range": "An instant's year is outside 0001 to 9999 in UTC.",
    "interval_empty": "`valid_from` and `valid_to` are equal.",
    "interval_reversed": "`valid_to` is before `valid_from`.",
    "recorded_at_in_future": "`recorded_at` is later than the writer's clock plus 5 minutes.",
    "import_not_allowed": "`recorded_at` needs the role `import`.",
    # identity
    "key_empty": "`key` is empty.",
    "key_too_long": "`key` is longer than 200 bytes.",
    "key_malformed": "`key` is not words of a-z, 0-9 and _ joined by single '.', '/' or '-'.",
    "scope_malformed": "`scope` is not a known kind, a colon and a key.",
    "scope_kind_unknown": "`scope` is of a kind that is not declared.",
    "scope_too_long": "`scope` is longer than 512 bytes.",
    "scope_not_covered": "The credential does not cover this scope.",
    "id_malformed": "Not a UUID of 36 characters.",
    # claims
    "source_hash_missing": "`source` has neither `hash` nor `text`.",
    "source_hash_malformed": "`source.hash` is not 64 hexadecimal digits.",
    "source_hash_differs": "`source.hash` is not the SHA-256 of `source.text`.",
    "confidence_out_of_range": "`confidence` is not between 0 and 1.",
    "cardinality_declared": "The key is declared with another cardinality.",
    "supersedes_itself": "A version can't supersede itself.",
    "supersedes_too_many": "An assertion supersedes at most 100 versions.",
    "revoke_names_one": "`revoke` names a version or an event, and exactly one of them.",
    "pair_of_one": "A decision or relation is about two different versions.",
    "keep_not_in_pair": "`keep` is neither of the two versions.",
    "newer_not_in_pair": "`newer_version_id` is neither of the two versions.",
    "newer_missing": "The relation `supersedes` needs `newer_version_id`.",
    # drops
    "topic_id_differs": "`topic_id` is not that of the facts topic.",
    "place_out_of_range": "A partition or an offset that the topic can't have.",
    "key_not_hex": "`key` is not a message key in hexadecimal digits.",
    "newer_not_allowed": "Only the relation `supersedes` has a `newer_version_id`.",
}
_REQUEST: Final = TEXT_REQUEST_CODES | {
    "json_malformed": (400, "The body is not JSON, or is cut short."),
    "body_empty": (400, "The body is empty."),
    "encoding_not_utf8": (400, "The body or a parameter is not UTF-8."),
    "parameter_unknown": (400, "A query parameter that this call does not have."),
    "parameter_malformed": (400, "A query parameter or header is not of its form."),
    "parameter_missing": (400, "A required query parameter or header is absent."),
    "position_malformed": (400, "Not a position that this service gave."),
    "position_of_other_topic": (400, "The position is of another topic than the one that is read."),
    "cursor_malformed": (400, "Not a cursor that this service gave."),
    "cursor_of_other_call": (400, "The cursor belongs to another call, tenant or query."),
    "cursor_of_other_rule": (409, "The tenant reads a projection of another rule now, which draws the timeline anew."),
    "token_missing": (401, "No `Authorization: Bearer` header."),
    "token_unknown": (401, "The bearer token is not known."),
    "role_missing": (403, "The credential lacks the role that this call needs."),
    "tenant_not_covered": (403, "The credential is of another tenant than `X-Tenant-Id` names."),
    "position_partition_unknown": (400, "The position speaks of a partition that the log does not have."),
    "position_beyond_log": (400, "The log ends before the position: nothing that was written lies there."),
    "history_too_long": (422, "The facts have more events than one answer is made of."),
    "timeline_too_large": (422, "A fact of so many open versions has no picture that anyone could read."),
    "fact_held": (409, "Messages of the fact are parked and none of it is applied yet: there is no history to show."),
    "check_running": (409, "A check of this projection is running; one at a time."),
    "verification_running": (409, "A verification of one of the projections is running; one at a time."),
    "rebuild_running": (409, "A rebuild of this projection is not over; one at a time."),
    "projection_exists": (409, "A projection, a schema or a failed rebuild of this name is there already."),
    "rebuild_over": (
        409,
        "The rebuild has come to an end that leaves nothing to do of what was asked; the message tells what to do instead.",
    ),
    "reason_missing": (422, "What is forced takes a reason, which is kept."),
    "projection_unknown": (404, "There is no projection of this name."),
    "retire_routed": (409, "Tenants read the projection that is to be let go."),
    "retire_unfinished": (409, "The projection that is to be let go is being rebuilt."),
    "retire_window": (409, "The projection that is to be let go may still be rolled back to."),
    "route_not_ready": (409, "The projection is neither ready nor live."),
    "route_unfinished": (409, "The projection's tables are not whole; no force helps."),
    "route_not_fed": (409, "No projector feeds the projection, or it is held for a verification."),
    "route_lags": (409, "The projection lacks too many events that the tenant's present one has."),
    "route_other_topic": (409, "The projection is made of another topic, so nobody can say how far it lags."),
    "route_unverified": (409, "The projection was rebuilt, and never verified."),
    "route_verification_failed": (409, "The last verification of the projection failed."),
    "route_shadow_absent": (409, "The projection is of another rule, and was never compared with the old one."),
    "route_shadow_open": (409, "The shadow window of the projection is not over."),
    "route_shadow_unknown": (409, "Differences of the projection are unexplained."),
    "rollback_nothing": (409, "No switch of the tenant is left to be taken back."),
    "rollback_unclear": (409, "The tenant's line was changed by other means than switch and rollback."),
    "rollback_gone": (409, "The projection to go back to is retired or dropped."),
    "explanation_too_large": (422, "The versions of a fact are too entangled at an instant to be told apart in time."),
    "not_found": (404, "No such address or thing."),
    "method_not_allowed": (405, "The address does not take this method."),
    "body_too_slow": (408, "The body did not come in time; nothing was sent."),
    "body_too_large": (413, "The body is larger than its limit."),
    "commands_too_many": (413, "More commands than one request may have."),
    "queries_too_many": (413, "More queries than one request may have."),
    "content_type_unsupported": (415, "Neither `application/json` nor `application/x-ndjson`."),
    "content_encoding_unsupported": (415, "Bodies come uncompressed."),
    "listeners_too_many": (429, "As many listeners follow changes here as may; come again, or ask another reader."),
    "queue_full": (429, "No room for the whole request now; nothing was sent."),
    "outcome_unknown": (503, "Kafka did not acknowledge in time; the outcome is unknown, and sending again is safe."),
    "shutting_down": (503, "The service is about to stop; nothing was sent."),
    "internal": (500, "A fault of ours; it is in the log."),
}
_FOREIGN: Final = "no writer of ours says this: find out who writes to the topic, then drop it"
_ELSEWHERE: Final = TOPIC_CODES | ADJUDICATOR_CODES
_SURROUNDINGS: Final = _ELSEWHERE | {
    "starting": (
        "The service has not looked at its surroundings yet.",
        "wait some seconds; if it stays so, look into the service's log",
    ),
    "kafka_unreachable": (
        "Kafka can't be reached.",
        "bring Kafka back, or check CHRONOFACT_KAFKA; the service goes on by itself",
    ),
    "kafka_refuses": (
        "Kafka refuses what is asked of it: the credentials, a name, or a setting.",
        "see what CHRONOFACT_KAFKA_OPTIONS say and what these credentials may do; the message has Kafka's own words",
    ),
    "rule_unknown": (
        "The projection is folded by a rule version that this code does not know.",
        "run the version of Chronofact that made it, or rebuild it by a rule known here (docs/rules.md)",
    ),
    "fold_changed": (
        "A rebuild began with another fold than this code's; its two halves would differ.",
        "cancel the rebuild and start anew, or go on with the code that it began with",
    ),
    "schema_unknown": (
        "A rebuild met a message of a schema that this code does not know, which newer code may apply.",
        "run newer code, or give the message up: `chronofact parked drop`",
    ),
    "parking_limit": (
        "A rebuild can't apply more messages than the projector would park before it stops.",
        "put right what is wrong with us or the topic: docs/operations/parked.md, or raise CHRONOFACT_PARKED_SHARE_MAX",
    ),
    "rebuild_differs": (
        "A rebuilt projection is not what the one of the same rule is that it was verified against.",
        "`chronofact check run` on both tells which one is wrong: docs/operations/failed-rebuild.md",
    ),
    "rebuild_diverges": (
        "The independent check found that a rebuilt projection is not what the log says.",
        "`chronofact check show` names what differs: docs/operations/failed-rebuild.md; then cancel the rebuild",
    ),
    "rebuild_contradicts": (
        "What a rebuild had stored contradicts itself.",
        "keep the reconciler's log, cancel the rebuild, and check the live projection: chronofact check run",
    ),
    "rebuild_folder": (
        "A rebuild can't spill messages to its folder.",
        "make room there, or name another in CHRONOFACT_REBUILD_FOLDER",
    ),
    "worker_dies": (
        "Workers of a rebuild die again and again, and nothing gets done.",
        "see the reconciler's log, and whether the machine has memory left",
    ),
    "projection_serves": (
        "The projection of a rebuild that is to be removed is one that tenants read, or may.",
        "route them to another, then retire it",
    ),
    "kafka_consumer": (
        "Kafka's consumer has to join anew.",
        "nothing: it joins anew by itself; if it keeps on, look at Kafka's log",
    ),
    "postgres_away": (
        "Postgres can't be reached, or is going down.",
        "bring Postgres back, or check CHRONOFACT_POSTGRES; the service goes on by itself",
    ),
    "postgres_busy": (
        "Postgres gave up waiting for a lock or took too long.",
        "look in pg_stat_activity for what holds locks or is slow; it is tried again",
    ),
    "postgres_serialization": ("Postgres rolled a transaction back, to be tried again.", "nothing: it is tried again"),
    "postgres_resources": (
        "Postgres lacks disk, memory or connections.",
        "free disk or memory, or raise max_connections; it is tried again",
    ),
    "postgres_io": (
        "Postgres can't read or write its files.",
        "look at Postgres's log and its disk; it is tried again",
    ),
    "postgres_damaged": (
        "Postgres reports damaged data.",
        "restore the database from a backup, or rebuild the projection: docs/operations/rebuild.md",
    ),
    "postgres_not_migrated": (
        "A table or function is missing.",
        "run `chronofact migrate`; if the database was lost, see docs/operations/lost-database.md first",
    ),
    "postgres_refuses": (
        "Postgres refuses the credentials, or has no such database.",
        "check CHRONOFACT_POSTGRES; if the database was lost: docs/operations/lost-database.md",
    ),
    "postgres_unexpected": ("Postgres refuses a statement; its log tells which.", "see the log of Postgres"),
    "postgres_too_old": ("Postgres is older than 18.", "use Postgres 18 or newer"),
    "pgvector_missing": (
        "The database lacks the extension vector (pgvector), at least of version 0.7.",
        "install pgvector on the server and say `create extension vector` as a superuser; then `chronofact migrate` again",
    ),
    "database_not_utf8": ("The database is not UTF-8.", "create it with encoding UTF8"),
    "migration_changed": (
        "An applied migration differs from its file.",
        "restore the files; a change is a new migration",
    ),
    "projection_idle": (
        "No projector has begun with the projection yet.",
        "start `chronofact projector`, or see in its log why it does not begin",
    ),
    "topics_differ": (
        "Two projections that are to be compared come from different topics.",
        "compare what no offset says, by `chronofact verify A B --across-topics`",
    ),
    "rules_differ": (
        "Two projections that are to be compared line by line are folded by different rules.",
        "compare what no rule decides, by `chronofact verify A B --aspects said`",
    ),
    "both_serve": (
        "Tenants read both projections that are to be compared, and one has to wait at the cut for a moment.",
        "say which by `chronofact verify A B --hold B`",
    ),
    "projection_stands_still": (
        "A projection that is to be compared does not move, though it has to catch up.",
        "see that a projector runs and feeds it: `chronofact doctor`",
    ),
    "projection_lags": (
        "A projection did not catch up with the one that it is compared with in time.",
        "let it catch up first, or give it longer by `chronofact verify --wait`",
    ),
    "projection_not_fed": (
        "A projection that is to be compared, or that a projector would go on with, is being built, retired or has failed.",
        "compare with one that is fed (`chronofact shadow start NEW --against OLD`); a projector waits by itself",
    ),
    "shadow_open": (
        "The projection is being compared with another one.",
        "wait for the end of that window, or end it: `chronofact shadow stop`",
    ),
    "projection_missing": (
        "There is no projection of the configured name.",
        "run `chronofact migrate`, or name another in CHRONOFACT_PROJECTION",
    ),
    "projection_name": ("The name can't be a projection's.", "use p and a number, like p1"),
    "tenant_not_routed": (
        "No projection serves the tenant.",
        "run `chronofact migrate`; where one is being rebuilt, wait for it: `chronofact rebuild status`",
    ),
    "topic_missing": ("The topic does not exist.", "run `chronofact topics`"),
    "topic_recreated": (
        "The topic was deleted and created anew.",
        "bring that topic back, or rebuild from this one: docs/operations/rebuild.md",
    ),
    "partition_count_differs": (
        "The topic has another number of partitions than CHRONOFACT_FACTS_PARTITIONS or the catalogue says.",
        "set it if it is that topic; to have more, move to a new topic: docs/operations/more-partitions.md",
    ),
    "cleanup_policy_differs": (
        "The topic is compacted, which destroys history.",
        "set cleanup.policy=delete on the topic, as the message says",
    ),
    "retention_limited": (
        "The topic forgets by age or size.",
        "set retention.ms=-1 and retention.bytes=-1 on the topic, as the message says",
    ),
    "timestamp_type_differs": (
        "The topic does not stamp messages with the broker's append time.",
        "seal it where it is being filled; else set message.timestamp.type=LogAppendTime, as the message says",
    ),
    "message_size_limited": (
        "The topic takes only smaller messages than ours.",
        "raise max.message.bytes of the topic, as the message says",
    ),
    "topic_config_differs": (
        "The topic is configured in another way than the catalogue.",
        "set the topic's configuration as the message says",
    ),
    "log_truncated": (
        "The topic has lost its first messages.",
        "restore its messages from a backup: without its start no projection can be rebuilt",
    ),
    "offset_out_of_range": (
        "The topic no longer holds the offset to go on from.",
        "restore the topic, or rebuild from what is left: docs/operations/rebuild.md",
    ),
    "log_shortened": (
        "The topic ends before what was applied from it.",
        "restore the topic, or rebuild from what is left: docs/operations/rebuild.md",
    ),
    "projection_failed": (
        "The feeding of one projection has ended, since something is wrong with us; others go on.",
        "see the process's log for why; it is tried again every 30 s, from the checkpoint",
    ),
    "stalled": (
        "The process waits for an answer that does not come, of Postgres most likely.",
        "see that Postgres answers; if it does and this stays, restart the process: nothing is lost",
    ),
    "check_given_up": (
        "A part of the check has failed, so the others ended, too.",
        "see the check's first failure, and run it again",
    ),
    "rebuild_cancelled": (
        "The rebuild that this was a part of was cancelled.",
        "nothing; begin another where one is wanted",
    ),
    "rebuild_taken_over": (
        "Another reconciler has taken over the rebuild that this was a part of.",
        "nothing: that one goes on from there",
    ),
    "fenced": (
        "Another process has taken the partition over.",
        "nothing: the other process goes on from there; if it keeps on, give each projector a name of its own",
    ),
    "event_undecodable": (
        "A message of the log is no event that this version can read.",
        "if a newer Chronofact wrote it, upgrade the projector and release it; else drop it",
    ),
    "message_key_malformed": ("A message's key is not the 16 bytes of a fact's id.", _FOREIGN),
    "value_missing": ("A message of the log has no value.", _FOREIGN),
    "identity_mismatch": ("A message's key is not the id of its event's identity.", _FOREIGN),
    "partition_mismatch": ("A message lies in another partition than its fact.", _FOREIGN),
    "identity_invalid": ("A message's event is of a fact that no writer could have named.", _FOREIGN),
    "event_id_mismatch": ("An event's id is not derived from its content.", _FOREIGN),
    "version_id_mismatch": ("A version's id is not derived from the claim.", _FOREIGN),
    "value_hash_mismatch": ("A hash of an event is not that of its payload.", _FOREIGN),
    "held": (
        "An earlier message of the fact is parked, and this one waits behind it.",
        "release or drop the first parked message of its fact; this one then follows",
    ),
    "drop_not_parked": (
        "An EventDropped names a message that is not parked, so it does not count.",
        "it was applied before the drop came: nothing is lost; drop this drop to tidy up",
    ),
    "drop_misplaced": (
        "An EventDropped lies where the message that it names does not, so it does not count.",
        "it names another message than lies there: drop this drop to tidy up",
    ),
    "constraint_broken": (
        "The projection refuses an event by one of its constraints.",
        "a fault of ours: keep it, report it, and release it once a version can apply it",
    ),
}
"""What is around a service or in its log: each with what it means and what helps."""

_WAITING: Final = TEXT_REMEDIES | {
    "outcome_unknown": "send it again",
    "shutting_down": "wait until it has restarted, or ask another",
    "queue_full": "send it again a little later",
    "listeners_too_many": "ask another reader, or raise CHRONOFACT_LISTENERS_MAX",
    "internal": "look into the service's log, and report it",
}
"""What helps where a request was right."""

CODES: Final = MappingProxyType(
    {
        **_COMMAND,
        **{code: meaning for code, (_, meaning) in _REQUEST.items()},
        **{code: meaning for code, (meaning, _) in _SURROUNDINGS.items()},
    }
)
"""Every code with its meaning."""


def status_of(code: str) -> int:
    """The HTTP status of a request refused as a whole: 422 for what is wrong with a command, 503 for the surroundings."""
    if code in _REQUEST:
        return _REQUEST[code][0]
    return 503 if code in _SURROUNDINGS else 422


def remedy_of(code: str) -> str | None:
    """What helps against a fault of the surroundings or of the log; None where the caller's input is what must change."""
    return _SURROUNDINGS[code][1] if code in _SURROUNDINGS else _WAITING.get(code)
