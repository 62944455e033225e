"""A user's table of keys and values in our terms, line by line, and held against our answers (ADR 30)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from chronofact.contracts.baseline import BadLine, BaselineReport, RawLine, Theirs
from chronofact.contracts.commands import VALUE_BYTES_MAX
from chronofact.contracts.fact_keys import check_key
from chronofact.contracts.json_text import exactly
from chronofact.contracts.scope_kinds import DEFAULT_SCOPE, ScopeKinds
from chronofact.contracts.shadow import Sort
from chronofact.domain.canonical import canonical, canonical_text, check_text, digest
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import FactIdentity, fact_id_of, subject_id_of, tenant_id_of
from chronofact.domain.rules import value_key
from chronofact.reconciler.shadow_ports import Baseline

NAME_CHARS_MAX: Final = 512
BAD_KEPT_MAX: Final = 100
SHOWN_BYTES_MAX: Final = 1_000
PARTS_MAX: Final = 1_000

Progress = Callable[[str, int], None]


class Lines:
    """Reads lines in our terms; those that are bad are counted, and the first of them kept."""

    def __init__(self, kinds: ScopeKinds, report: BaselineReport, *, is_text: bool, tenant_id: UUID | None) -> None:
        self._kinds = kinds
        self._report = report
        self._is_text = is_text
        self._tenant_id = tenant_id

    def read(self, lines: Iterable[RawLine], progress: Progress) -> Iterator[Theirs]:
        """The good ones."""
        for one in lines:
            self._report.lines += 1
            if self._report.lines % 1_000 == 0:
                progress("lines", self._report.lines)
            try:
                yield self._theirs(one)
            except Rejected as refusal:
                field = refusal.field or "value"
                self.bad(BadLine(one.number, field, refusal.code, refusal.message))

    def bad(self, line: BadLine) -> None:
        """A line that is not compared."""
        self._report.bad += 1
        if len(self._report.bad_lines) < BAD_KEPT_MAX:
            self._report.bad_lines.append(line)

    def _theirs(self, line: RawLine) -> Theirs:
        tenant_id = self._tenant_id or tenant_id_of(_named(line.tenant, "tenant"))
        subject = _named(line.subject, "subject")
        subject_id = subject_id_of(tenant_id, subject)
        scope = self._kinds.normalise(DEFAULT_SCOPE if line.scope is None else line.scope)
        key = _named(line.key, "key")
        check_key(key)
        if line.value is None:
            raise Rejected("field_missing", "value is NULL; leave such lines out, or select a JSON null", field="value")
        value = exactly(line.value.encode())
        spelled = canonical(value)
        if len(spelled) > VALUE_BYTES_MAX:
            raise Rejected("value_too_large", "the value's canonical JSON is larger than 64 KiB", field="value")
        identity = FactIdentity(tenant_id, subject_id, scope.kind, scope.key, key)
        read = [value, *_read_as_json(value)] if self._is_text else [value]
        return Theirs(
            line.number,
            fact_id_of(identity),
            tenant_id,
            subject_id,
            subject,
            scope.kind,
            scope.key,
            key,
            _shown(spelled),
            tuple(dict.fromkeys(map(self._key, read))),
            self._parts(read[-1]),
        )

    def _key(self, value: Any) -> bytes:
        """What values share that are one by the rule of the projection."""
        spelled = canonical(value)
        return value_key(spelled, digest(spelled), self._report.rule)

    def _parts(self, value: Any) -> tuple[bytes, ...] | None:
        if not isinstance(value, list) or len(value) > PARTS_MAX:
            return None
        return tuple(sorted(set(map(self._key, value))))


def hold_against(
    lines: Iterable[RawLine],
    side: Baseline,
    report: BaselineReport,
    *,
    reader: Lines,
    valid_at: datetime | None,
    wanted: tuple[UUID | None, Sort | None, int],
    progress: Progress = lambda _what, _done: None,
) -> BaselineReport:
    """The whole comparison; ``wanted`` bounds what is told of it: tenant, class of the samples, samples of a reason."""
    started = time.monotonic()
    for bad in side.lay(reader.read(lines, progress)):
        reader.bad(bad)
    side.compare(report, valid_at)
    for done in side.judge():
        progress("judged", done)
    tenant_id, sort, samples = wanted
    report.whys = side.whys(tenant_id)
    report.samples = list(side.told(tenant_id=tenant_id, sort=sort, samples=samples))
    report.seconds = time.monotonic() - started
    return report


def empty_report(projection: str, rule: int) -> BaselineReport:
    """Before anything was read."""
    return BaselineReport(projection, rule, datetime.now(UTC))


def _named(text: str | None, field: str) -> str:
    if text is None or text == "":
        raise Rejected("field_missing", f"{field} is {'NULL' if text is None else 'empty'}", field=field)
    if len(text) > NAME_CHARS_MAX:
        raise Rejected("field_too_long", f"{field} is longer than {NAME_CHARS_MAX} characters", field=field)
    check_text(text)
    return text


def _read_as_json(value: Any) -> Iterator[Any]:
    """What a text says as JSON, if it is that."""
    if isinstance(value, str):
        with suppress(Rejected):
            read = exactly(value.encode())
            canonical(read)
            yield read


def _shown(spelled: bytes) -> str:
    if len(spelled) <= SHOWN_BYTES_MAX:
        return spelled.decode()
    cut = spelled[:200].decode(errors="ignore")
    return canonical_text({"cut": cut, "bytes": len(spelled)})
