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


def audit_section(study: Study, given: Any) -> AuditRecord | None:
    """The section's contents; None where nothing was asked for.

    `given` is an `Audit`, a `Check`, a list of these, a mapping of what `Explainer.audit` takes, or True for an audit as it is.
    """
    if given is None or given is False:
        return None
    parts: list[Any] = []
    several = isinstance(given, Iterable) and not isinstance(given, (Mapping, Audit, Check, str))
    for one in given if several else [given]:
        if one is True or isinstance(one, Mapping):
            parts.append(audited(study, **({} if one is True else dict(one))))
        elif isinstance(one, (Audit, Check)):
            parts.append(one)
        else:
            told = "must be an Audit, a Check, a list of these, or True"
            hint = "write audit=ex.audit(increasing=['income'])"
            raise InputTypeError.about("audit", told, one, hint)
    seconds = next((one.asked.get("seconds") for one in parts if isinstance(one, Audit)), None)
    record = record_of(study, seconds=seconds)
    for check in [one for one in parts if isinstance(one, Check)]:
        for name, said in (("expectations", "expectations"), ("against", "compared with")):
            if name in check.record:
                record[said] = check.record[name]
    examples = [str(example) for one in parts if isinstance(one, Audit) for example in one.examples]
    return AuditRecord(
        [_part(one) for one in parts],
        [page_name(text, 400) for text in examples[:MOST_EXAMPLES]],
        max(0, len(examples) - MOST_EXAMPLES),
        [Fact(name, page_name(_written(value), 2000)) for name, value in record.items()],
        all(one.ok for one in parts),
    )


def _written(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def _part(one: Audit | Check) -> AuditPart:
    """A table, what does not hold, and how it was found."""
    columns, asked = one.shown, []
    if isinstance(one, Audit):
        failures = [*one.failures, *(f"not decided: {text}" for text in one.undecided)]
        asked = [
            f"{name}: {cell_text(tuple(value) if isinstance(value, list) else _written(value))}"
            for name, value in one.asked.items()
            if value not in (None, [], {})
        ]
    else:
        failures = [
            f"{s.feature} {s.expectation}: expected {s.expected}, found {s.found}. {s.detail}"
            for s in one.failures
        ]
    return AuditPart(
        page_name(one.title, 200),
        list(columns),
        [[page_name(cell_text(values[i]), 300) for values in columns.values()] for i in range(len(one))],
        [page_name(text, 600) for text in failures],
        [page_name(text, 400) for text in one.notes],
        [page_name(text, 400) for text in asked],
    )
