"""The report's record of an audit and of checks: what was asked, what holds, what shows it does not, and of which model and data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from icefield.audit.auditing import audit as audited
from icefield.audit.checking import Check
from icefield.audit.plain_values import plain
from icefield.audit.records import record_of
from icefield.audit.result import Audit
from icefield.core.study import Study
from icefield.errors import InputTypeError
from icefield.report.view_model import AuditPart, AuditRecord, Fact
from icefield.statistics.tables import cell_text
from icefield.wording.names import page_name

MOST_EXAMPLES = 60


def audit_section(study: Study, given: Any) -> AuditRecord:
    """The report's section on an audit or checks.

    `given` is an `Audit`, a `Check`, a list of these, a mapping of what `Explainer.audit` takes, or True for an audit as it is.
    """
    parts: list[Any] = []
    several = isinstance(given, Iterable) and not isinstance(given, (Mapping, Audit, Check, str))
    for part in given if several else [given]:
        if part is True or isinstance(part, Mapping):
            parts.append(audited(study, **({} if part is True else dict(part))))
        elif isinstance(part, (Audit, Check)):
            parts.append(part)
        else:
            problem = "must be an Audit, a Check, a list of these, or True"
            hint = "write audit=ex.audit(increasing=['income'])"
            raise InputTypeError.about("audit", problem, part, hint)
    seconds = next((part.asked.get("seconds") for part in parts if isinstance(part, Audit)), None)
    record = record_of(study, seconds=seconds)
    for check in [part for part in parts if isinstance(part, Check)]:
        for name, title in (("expectations", "expectations"), ("against", "compared with")):
            if name in check.record:
                record[title] = check.record[name]
    examples = [str(example) for part in parts if isinstance(part, Audit) for example in part.examples]
    return AuditRecord(
        [_part(part) for part in parts],
        [page_name(text, 400) for text in examples[:MOST_EXAMPLES]],
        max(0, len(examples) - MOST_EXAMPLES),
        [Fact(name, page_name(_json(value), 2000)) for name, value in record.items()],
        all(part.ok for part in parts),
    )


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _part(part: Audit | Check) -> AuditPart:
    """One audit or check as the page shows it: its table, what does not hold, notes and options."""
    columns, options = part.shown, []
    if isinstance(part, Audit):
        failures = [*part.failures, *(f"not decided: {text}" for text in part.undecided)]
        options = [
            f"{name}: {cell_text(tuple(value) if isinstance(value, list) else _json(value))}"
            for name, value in part.asked.items()
            if value not in (None, [], {})
        ]
    else:
        failures = [
            f"{s.feature} {s.expectation}: expected {s.expected}, found {s.found}. {s.detail}"
            for s in part.failures
        ]
    return AuditPart(
        page_name(part.title, 200),
        list(columns),
        [[page_name(cell_text(values[i]), 300) for values in columns.values()] for i in range(len(part))],
        [page_name(text, 600) for text in failures],
        [page_name(text, 400) for text in part.notes],
        [page_name(text, 400) for text in options],
    )
