"""How the report opens: what the model is, what the data is, how it was computed, in a few words each."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from icefield.core.hashes import hashed_rows, predictions_hash, table_hash
from icefield.core.study import Study
from icefield.counts import counted
from icefield.effect import Effect
from icefield.report.view_model import Fact
from icefield.statistics.interactions import Interactions
from icefield.wording.labels import predicted_text
from icefield.wording.names import page_name, page_sentence
from icefield.wording.values import number_text, seconds_text

NO_LIBRARY = ("builtins", "__main__")


def model_name(study: Study) -> str:
    """The model's class, or "the model" for a function, whose name says little."""
    native = study.model.native
    return "the model" if hasattr(native, "__name__") else page_name(type(native).__name__)


def facts(study: Study, effect: Effect, seconds: float, data_name: str | None = None) -> list[Fact]:
    """Model, data, computation and time, for the top of the page."""
    what = _scale_text(study)
    computed = f"{how(study)}, {_over(study, effect)}" + ("" if what == "prediction" else f"; {what}")
    return _facts(
        ("Model", model_text(study)),
        ("Data", data_text(study, data_name)),
        ("Computed", computed),
        ("Made", made_text(seconds)),
    )


def details(
    study: Study,
    effect: Effect,
    curves: int,
    crossed: Interactions | None,
    ale_rows: int | None,
    seconds: float,
    data_name: str | None = None,
    released: str = "",
) -> list[Fact]:
    """Everything there is to say of how the page was made; `curves` are the rows behind its bands, `released` what was coarsened."""
    model, plan, groups = study.model, study.plan, study.rows.groups
    baseline, spread = "", effect.output_std
    if effect.baseline is not None and len(model.outputs) == 1:
        baseline = f"; on average {number_text(effect.baseline[0])}"
        baseline += "" if spread is None else f", give or take {number_text(spread[0])}"
    share = "every row" if curves == study.sample.table.n_rows else f"{counted(curves)} rows"
    by = groups and f"by {page_name(study.naming.name(groups.name))}: {len(groups.labels)} groups"
    return _facts(
        ("Model", model_text(study)),
        ("Explained", f"{_scale_text(study)}{baseline}"),
        ("Data", data_text(study, data_name)),
        ("Computed", f"{how(study)}, {_over(study, effect)}"),
        ("Engine", f"{plan.engine.name}: {_mid_sentence(study.why(plan))}"),
        ("Values", released),
        ("Spread", f"Bands and differences between rows come from the curves of {share}" if curves else ""),
        ("ALE", "" if ale_rows is None else f"from a seeded sample of {counted(ale_rows)} rows"),
        ("Interactions", "" if crossed is None else page_sentence(rows_used(crossed))),
        ("Subgroups", by or ""),
        ("Weights", "" if study.sample.weights is None else "every average and count is weighted"),
        ("Hashes", hashes_text(study)),
        ("Made", made_text(seconds)),
    )


def rows_used(crossed: Interactions) -> str:
    """Which rows interactions were evaluated at, without the advice that follows for callers."""
    return "; ".join(note.split(";")[0].split(":")[0] for note in crossed.notes)


def _facts(*terms: tuple[str, str]) -> list[Fact]:
    return [Fact(term, text) for term, text in terms if text]


def today() -> str:
    """When the page is made."""
    return datetime.now().astimezone().strftime("%d %B %Y, %H:%M")


def model_text(study: Study) -> str:
    """The model by library and class."""
    native, library = study.model.native, type(study.model.native).__module__.split(".")[0]
    if hasattr(native, "__name__"):
        return f"a Python function, {page_name(native.__name__)}"
    library = "" if library in NO_LIBRARY else f"{library} "
    return f"{library}{page_name(type(native).__name__)}, {study.model.kind}"


def _scale_text(study: Study) -> str:
    model = study.model
    outputs = ", ".join([*(page_name(o, 40) for o in model.outputs[:6]), *["…"][: len(model.outputs) > 6]])
    what = page_name(predicted_text(study.naming, model.scale_label, model.outputs, None))
    if outputs != model.scale_label and outputs not in what:
        what += f" of {outputs}" if study.naming.target is None else f" ({outputs})"
    return what + (" on the raw scale" if model.scale == "raw" else "")


def how(study: Study) -> str:
    """How the page was computed: from the trees, or by calling the model."""
    costly = study.plan.engine.costs_predictions
    return "by asking the model itself" if costly else "exactly, from the model’s trees"


def _over(study: Study, effect: Effect) -> str:
    rows, total = effect.n_rows, study.rows.n_rows
    sample = f"over a seeded sample of {counted(rows)} of the {counted(total)} rows"
    return sample if rows < total else "over every row"


def made_text(seconds: float) -> str:
    """In what time, and with which version."""
    from icefield import __version__

    return f"in {seconds_text(seconds)} with icefield {__version__}"


def _mid_sentence(text: str) -> str:
    """A text for the middle of a sentence."""
    text = page_sentence(text)
    return text[:1].lower() + text[1:] if text[:2].isalpha() and not text[:2].isupper() else text


def hashes_text(study: Study) -> str:
    """Hashes of the data and the model: the same rows and the same predictions have the same hashes."""
    columns, rows = study.model.columns, hashed_rows(study.sample.n_rows)
    data, model = table_hash(study.sample.table, columns), predictions_hash(study.predictions(rows))
    return (
        f"data {data} (values of the model’s {len(columns)} columns), model {model} (its predictions of "
        f"{counted(len(rows))} of these rows)"
    )


def data_text(study: Study, called: str | None = None) -> str:
    """Rows and kinds of columns, after what the user calls them."""
    columns = [study.sample.table.column(name) for name in study.model.columns]
    kinds = Counter(column.kind for column in columns)
    missing = sum(bool(column.any_missing) for column in columns)
    listed = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
    text = f"{counted(study.rows.n_rows)} rows, {len(columns)} features ({listed})"
    text += f"; {missing} with missing values" if missing else ""
    return f"{page_name(called, 60)}: {text}" if called else text
