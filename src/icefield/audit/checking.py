"""`check`: a model held to expectations, or to the effects of an earlier one; and what it says, for people, pipelines and pages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape as xml_escape
from xml.sax.saxutils import quoteattr

import numpy as np

from icefield.audit.plain_values import plain
from icefield.data.columns import object_array
from icefield.effect.whole_files import atomic_write
from icefield.errors import InputError, InputTypeError
from icefield.statistics.tables import ResultTable, cell_text, labels_column

PASS, FAIL, BORDERLINE = "pass", "fail", "borderline"


@dataclass(frozen=True)
class Statement:
    """One expectation and whether it holds.

    Attributes
    ----------
    feature : which; empty for the model as a whole
    expectation : its key in the file
    expected, found : what was written, and what the model does, for people
    result : ``"pass"``, ``"fail"`` or ``"borderline"`` (another sample of rows might overturn it)
    detail : rows or values that show it
    """

    feature: Any
    expectation: str
    expected: str
    found: str
    result: str
    detail: str = ""

    def __str__(self) -> str:
        text = f"expected {self.expected}, found {self.found}. {self.detail}".rstrip()
        return f"{self.feature} {self.expectation}: {text}"


@dataclass(frozen=True, eq=False, repr=False)
class Check(ResultTable):
    """The statements of a check as a table; `ok` where none failed. Made by `check`.

    Columns: ``feature``, ``expectation``, ``expected``, ``found``, ``result`` and ``detail``.
    """

    statements: tuple[Statement, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        statements: Sequence[Statement],
        title: str,
        notes: Sequence[str],
        library: str,
        record: Mapping[str, Any],
    ) -> Check:
        names = ("expectation", "expected", "found", "result", "detail")
        columns = {name: object_array([getattr(s, name) for s in statements]) for name in names}
        columns = {"feature": labels_column([s.feature for s in statements]), **columns}
        counts = {kind: sum(s.result == kind for s in statements) for kind in (PASS, FAIL, BORDERLINE)}
        summary = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
        title = f"{title}: {summary or 'nothing asked'}"
        return cls(columns, title, tuple(notes), library, statements=tuple(statements), record=record)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(statement.result != FAIL for statement in self.statements)

    @property
    def failures(self) -> tuple[Statement, ...]:
        """The statements that failed."""
        return tuple(statement for statement in self.statements if statement.result == FAIL)

    def to_json(self, path: str | Path | None = None) -> str | None:
        """Everything as JSON: written to `path`, or returned as text without one."""
        document = {
            "ok": self.ok,
            "statements": [plain(statement) for statement in self.statements],
            "notes": list(self.notes),
            "record": plain(dict(self.record)),
        }
        return _deliver(json.dumps(document, indent=1, ensure_ascii=False) + "\n", path)

    def to_junit(self, path: str | Path | None = None) -> str | None:
        """A JUnit XML file, as pipelines show it: a test case per statement."""
        failed = len(self.failures)
        skipped = sum(statement.result == BORDERLINE for statement in self.statements)
        cases = []
        for statement in self.statements:
            name, body = f"{statement.feature} {statement.expectation}".strip(), ""
            hedge = "borderline: " if statement.result == BORDERLINE else ""
            message = quoteattr(_xml(f"{hedge}expected {statement.expected}, found {statement.found}"))
            if statement.result == FAIL:
                body = f"<failure message={message}>{xml_escape(_xml(statement.detail))}</failure>"
            elif statement.result == BORDERLINE:
                body = f"<skipped message={message}/>"
            name = quoteattr(_xml(name))
            cases.append(f'  <testcase classname="icefield.check" name={name}>{body}</testcase>')
        text = "\n".join([
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="icefield check" tests="{len(cases)}" failures="{failed}" errors="0" skipped="{skipped}">',
            *cases, "</testsuite>", "",
        ])  # fmt: skip
        return _deliver(text, path)

    def to_html(self, path: str | Path | None = None) -> str | None:
        """One page without scripts: failures at the top, then everything."""
        order = {FAIL: 0, BORDERLINE: 1, PASS: 2}
        rows = "".join(
            f'<tr class="{s.result}"><td>{s.result}</td>'
            + "".join(
                f"<td>{escape(cell_text(v))}</td>"
                for v in (s.feature, s.expectation, s.expected, s.found, s.detail)
            )
            + "</tr>"
            for s in sorted(self.statements, key=lambda s: order[s.result])
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        record = "".join(
            f"<tr><th>{escape(str(k))}</th><td>{escape(json.dumps(plain(v), ensure_ascii=False))}</td></tr>"
            for k, v in self.record.items()
        )
        style = (
            "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}"
            "td,th{border-bottom:1px solid #8884;padding:.3rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}"
            ".fail td:first-child{color:#b00020;font-weight:600}.borderline td:first-child{color:#8a5a00;font-weight:600}"
            "@media (prefers-color-scheme:dark){body{background:#181818;color:#ddd}.fail td:first-child{color:#ff8a80}.borderline td:first-child{color:#ffc46b}}"
        )
        text = (
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
            "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<title>{escape(self.title)}</title><style>{style}</style><h1>{escape(self.title)}</h1>"
            f"<table><tr><th>result<th>feature<th>expectation<th>expected<th>found<th>detail</tr>{rows}</table>"
            f"<ul>{notes}</ul><h2>Record</h2><table>{record}</table></html>\n"
        )
        return _deliver(text, path)


def check(
    explainer: Any, expectations: Any = None, *, against: str | Path | None = None, seconds: float = 10.0
) -> Check:
    """Check a model against expectations, a snapshot of an earlier model's effects, or both.

    Parameters
    ----------
    explainer : an `Explainer`
    expectations : a TOML file, or the same as a mapping; `Explainer.expectations` drafts one
    against : a folder that `Explainer.snapshot` wrote
    seconds : time limit of the statements about every possible input

    Examples
    --------
    >>> import icefield
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> ex = icefield.Explainer(lambda rows: 2 * rows[:, 0], X)
    >>> found = icefield.check(ex, {"features": {"0": {"direction": "increasing", "effect": [10, 100]}}})
    >>> found.ok, found["result"].tolist()
    (True, ['pass', 'pass'])
    """
    from icefield.audit.expectations import check_expectations
    from icefield.audit.snapshot import compare

    study = vars(explainer).get("study") if hasattr(explainer, "__dict__") else None
    if study is None:
        raise InputTypeError.about(
            "explainer", "must be an Explainer", explainer, "write icefield.Explainer(model, X)"
        )
    study.needs_rows("checks")
    if expectations is None and against is None:
        raise InputError(
            "There is nothing to check against. Hint: give a file of expectations, or against= a folder of effects."
        )
    checks = []
    if expectations is not None:
        checks.append(check_expectations(study, expectations, seconds))
    if against is not None:
        checks.append(compare(study, against))
    if len(checks) == 1:
        return checks[0]
    first, second = checks
    return Check.of(
        (*first.statements, *second.statements), "Check of expectations and effects", (*first.notes, *second.notes),
        first.library, {**second.record, **first.record},
    )  # fmt: skip


def _deliver(text: str, path: str | Path | None) -> str | None:
    if path is None:
        return text
    with atomic_write(path) as file:
        file.write_text(text, encoding="utf-8", newline="\n")
    return None


def _xml(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return "".join(c if c in "\t\n" or c >= " " else "?" for c in text)


def number(value: float) -> str:
    """A number for people."""
    return cell_text(float(value)) if np.isfinite(value) else "–"
