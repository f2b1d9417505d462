"""Saved effects: everything comes back, and nothing but a saved effect is taken for one."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import io
import json
import pickle
import zipfile
from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from icefield import Effect, Explainer
from icefield.data.columns import is_missing_value, object_array
from icefield.effect.parts import PART_FIELDS, AllBut
from icefield.errors import InputError
from icefield.statistics.support import Support

RNG = np.random.default_rng(5)
HOSTILE = ["</script><b>", "a/../../b", "\u202edesrever", "", "\ud800", "q'\"\\", "x" * 10_000]
FRAME = pd.DataFrame({
    "n": RNG.normal(size=20),
    "i": pd.array([*range(19), None], dtype="Int64"),
    "s": [*RNG.choice(["a", "b"], 19), None],
    "b": RNG.choice([True, False], 20),
    "t": pd.date_range("2020", periods=20),
    "w": pd.to_timedelta(np.arange(20), unit="h"),
    "h_1": [1, 0] * 10,
    "h_2": [0, 1] * 10,
})  # fmt: skip


def model(rows) -> np.ndarray:
    return np.column_stack([np.arange(len(rows)), rows["n"].to_numpy()])


def same(a, b) -> bool:
    """Equal in value and type, field by field; names that are shared equal the same names in a list."""
    a, b = (tuple(x) if isinstance(x, AllBut) else x for x in (a, b))
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(
            same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a)
        )
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and all(same(x, y) for x, y in zip(a.ravel().tolist(), b.ravel().tolist()))
        )
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if is_missing_value(a):
        return is_missing_value(b)
    return type(a) is type(b) and a == b


def there_and_back(effect: Effect, folder) -> Effect:
    effect.save(folder / "effect.icefield")
    return Effect.load(folder / "effect.icefield")


EXPLAINER = Explainer(model, FRAME)


@pytest.mark.parametrize(
    "effect",
    [
        EXPLAINER.partial_dependence("n", quantiles=[0.1, 0.9]),
        EXPLAINER.partial_dependence("n", "s", grid=4),
        EXPLAINER.partial_dependence("n", "i", "b", grid=3),
        EXPLAINER.ice("i", rows=5),
        EXPLAINER.ice("s"),
        EXPLAINER.ice("b", "t", rows=3),
        EXPLAINER.partial_dependence("w"),
        EXPLAINER.partial_dependence({"h": ["h_1", "h_2"]}),
        EXPLAINER.ice("t").center("2020-01-05"),
        EXPLAINER.partial_dependence("n").derivative(),
        Explainer(model, FRAME, by="s", weights=np.arange(1.0, 21.0)).partial_dependence(
            "n", quantiles=[0.5]
        ),
        Explainer(model, FRAME, by="t").partial_dependence("n", grid=2),
    ],
    ids=lambda e: f"{e.kind}-{e.features}-{e.view}-{e.by}",
)
def test_every_field_comes_back(effect, tmp_path):
    again = there_and_back(effect, tmp_path)
    assert same(effect, again)
    assert repr(again) == repr(effect)


@pytest.mark.parametrize("name", HOSTILE, ids=lambda n: ascii(n[:12]))
def test_hostile_names(name, tmp_path):
    effect = dataclasses.replace(
        EXPLAINER.partial_dependence("n", grid=3), features=(name,), outputs=(name, name + "2"), why=name, by=name,
        groups={name: EXPLAINER.partial_dependence("n", grid=3)}, row_values={name: object_array([name])},
    )  # fmt: skip
    assert same(effect, there_and_back(effect, tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == ["effect.icefield"]


@pytest.mark.parametrize(
    "levels",
    [
        [None, ("a", 1), 2**70, -1, True], [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5), dt.timedelta(days=9000, microseconds=1)],
        [Decimal("1.10"), np.int8(3), np.float32(0.5), np.datetime64("2020-01-01", "ns")], [float("inf"), float("-inf"), 0.1, -0.0],
        [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
    ],
    ids=str,
)  # fmt: skip
def test_levels_of_any_type(levels, tmp_path):
    effect = dataclasses.replace(
        EXPLAINER.partial_dependence("n", grid=3),
        grid=(object_array(levels),),
        average=np.zeros((2, len(levels))),
        std=None,
        se=None,
        centered_std=None,
        weight=None,
        reference=levels[0],
        outputs=(levels[-1], None),
    )
    effect = dataclasses.replace(effect, groups=dict.fromkeys(levels, effect))
    assert same(effect, there_and_back(effect, tmp_path))


def test_what_has_no_form_in_the_file_is_kept_as_text(tmp_path):
    effect = dataclasses.replace(EXPLAINER.partial_dependence("n", grid=3), reference=pd.Interval(0, 1))
    assert there_and_back(effect, tmp_path).reference == "(0, 1]"


def test_support_comes_back(tmp_path):
    effect = EXPLAINER.partial_dependence("n", grid=3)
    support = Support(
        share=np.array([0.1, 1.0, np.nan]), low=np.array([True, False, False]), details={"rows": 3}
    )
    again = there_and_back(dataclasses.replace(effect, support=support), tmp_path)
    assert same(again.support, support)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "effect"
    EXPLAINER.partial_dependence("n", grid=3).save(path)
    before = path.read_bytes()
    other = EXPLAINER.partial_dependence("n", grid=4)

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(type(path), "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        other.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["effect"]


def test_nothing_in_the_file_is_a_pickle(tmp_path):
    path = tmp_path / "effect"
    EXPLAINER.ice("s").save(str(path))
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".npy"):
                np.load(io.BytesIO(content), allow_pickle=False)
            else:
                assert json.loads(content)["version"] == 1


# --- names that no file can have ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere/effect", "folder that does not exist"),
        ("nowhere/deeper/effect", "folder that does not exist"),
        ("file/effect", "folder that does not exist"),
        ("folder", "is a folder"),
        ("", "is a folder"),
        ("x" * 300, "cannot be the name of a file"),
        ("a\0b", "cannot be the name of a file"),
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_saving_to_a_missing_folder_a_folder_or_a_bad_name(name, words, tmp_path, monkeypatch, complains):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("something else")
    effect = EXPLAINER.partial_dependence("n", grid=3)
    with complains("path", words, "Hint", error=InputError):
        effect.save(name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_text() == "something else"


@pytest.mark.parametrize("path", [None, 3, 1.5, ["effect"]])
def test_a_path_of_another_type_is_refused(path, complains):
    with complains("path", "name of a file", error=TypeError):
        EXPLAINER.partial_dependence("n", grid=3).save(path)


# --- files that are something else -------------------------------------------------------------------


def rewritten(path, change) -> None:
    """Save an effect with its document changed."""
    EXPLAINER.partial_dependence("n", grid=3).save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(parts["effect.json"])
    change(document, parts)
    parts["effect.json"] = parts.pop("as it is", None) or json.dumps(document).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def hostile_array(document, parts):
    parts["arrays/0.npy"] = b"\x93NUMPY\x01\x00v\x00" + (
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,), }".ljust(117) + b"\n"
    )


def pickled_array(document, parts):
    content = io.BytesIO()
    np.save(content, np.array([object()], dtype=object), allow_pickle=True)
    parts["arrays/0.npy"] = content.getvalue()


CORRUPTIONS = {
    "format": lambda d, p: d.update(format="other"),
    "no effect": lambda d, p: d.pop("effect"),
    "unknown type": lambda d, p: d["effect"].update(type="Explainer"),
    "unknown field": lambda d, p: d["effect"]["fields"].update(evil=1),
    "missing field": lambda d, p: d["effect"]["fields"].pop("grid"),
    "unknown tag": lambda d, p: d["effect"]["fields"].update(why={"eval": "1"}),
    "two tags": lambda d, p: d["effect"]["fields"].update(why={"text": "a", "list": []}),
    "a list": lambda d, p: p.update({"as it is": b"[1]"}),
    "no JSON": lambda d, p: p.update({"as it is": b"{"}),
    "no array": lambda d, p: p.pop("arrays/0.npy"),
    "an array number that is none": lambda d, p: d["effect"]["fields"].update(average={"array": "../x"}),
    "another shape": lambda d, p: d["effect"]["fields"].update(outputs={"tuple": ["only"]}),
    "no average": lambda d, p: d["effect"]["fields"].update(average=None),
    "grid of text": lambda d, p: d["effect"]["fields"].update(grid={"tuple": ["abc"]}),
    "grid of nothing": lambda d, p: d["effect"]["fields"].update(grid=None),
    "other features": lambda d, p: d["effect"]["fields"].update(features={"tuple": ["a", "b"]}),
    "groups that are none": lambda d, p: d["effect"]["fields"].update(groups={"pairs": [["a", 3]]}),
    "a plain value": lambda d, p: d.update(effect=5),
    "a distribution": lambda d, p: d.update(effect=d["effect"]["fields"]["distribution"]),
    "a size that is a lie": hostile_array,
    "a pickle": pickled_array,
    "deep nesting": lambda d, p: p.update({"as it is": nested(10_000)}),
}


def nested(depth: int) -> bytes:
    inner = b'{"list": [' * depth + b"1" + b"]}" * depth
    return b'{"format": "icefield-effect", "version": 1, "effect": ' + inner + b"}"


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_corrupt_files_are_refused(name, tmp_path):
    path = tmp_path / "effect"
    rewritten(path, CORRUPTIONS[name])
    with pytest.raises(InputError, match="not a saved effect"):
        Effect.load(path)


FULL = Explainer(model, FRAME, by="b", weights=np.arange(1.0, 21.0))
SAVED = {
    "curve": dataclasses.replace(
        FULL.partial_dependence("n", grid=3, quantiles=[0.5]),
        support=Support(share=np.ones(3), low=np.zeros(3, bool), details={}, disagreement=np.zeros(2)),
    ),
    "levels": FULL.partial_dependence("s"),
    "pair": FULL.partial_dependence("n", "s", grid=3),
    "kept": FULL.ice("n", grid=3, rows=4),
}
NOT_WHOLE = {
    # field, what it is changed to, and of which effect
    "n_rows": ["12", -1, 1.5, None, True],
    "weight": [np.ones(2), np.ones((3, 1)), "text", [1, 2, 3]],
    "average": [np.zeros((2, 2)), np.array([["a", "b", "c"]] * 2), None],
    "std": [np.zeros(3), "text"],
    "se": [np.zeros((1, 3))],
    "quantiles": [{0.5: np.zeros(3)}, {"half": np.zeros((2, 3))}, np.zeros((2, 3)), {0.5: None}],
    "baseline": [np.zeros(3), 1.5],
    "output_std": ["text"],
    "kind": ["nothing", 5],
    "view": ["sideways"],
    "scale": ["logit"],
    "background": ["foreground"],
    "over": ["time"],
    "engine": [None],
    "why": [3],
    "library": [("numpy",)],
    "steps": ["yes"],
    "by": [1.5],
    "others": ["abc"],
    "kinds": [("float", "float"), (3,), "f"],
    "features": [()],
    "outputs": [()],
    "distribution": ["text", 5, {}],
    "support": [{"share": 1}],
    "groups": [[1], {"a": None}],
    "row_values": ["text", {"n": 3}],
}
PARTS = {
    "marginals": [(), "text", (None,)],
    "total": ["20", float("nan")],
    "missing": [None],
    "counts": [np.zeros((2, 2)), np.array(["a"]), None],
    "edges": [np.zeros(2), "text"],
    "deciles": [np.zeros(3)],
    "rug": [np.zeros((2, 2))],
    "share": [np.ones(2), None],
    "low": [np.zeros(3)],
    "disagreement": [np.zeros(5)],
    "related": [3],
    "details": [None],
    "outside": ["much"],
}


def with_changed(whole, name, value):
    """An effect, or a part of one, with a field changed that it has somewhere inside."""
    fields = {field.name for field in dataclasses.fields(whole)}
    if name in fields or (isinstance(whole, Effect) and any(name in part for part in PART_FIELDS.values())):
        return dataclasses.replace(whole, **{name: value})
    inside = {"distribution", "support", "joint"} & (fields | set(PART_FIELDS["backing"]))
    for part in sorted(inside):
        found = getattr(whole, part, None)
        if found is not None and (changed := with_changed(found, name, value)) is not None:
            return dataclasses.replace(whole, **{part: changed})
    for at, marginal in enumerate(getattr(whole, "marginals", ())):
        if getattr(marginal, name, None) is not None:
            marginals = list(whole.marginals)
            marginals[at] = dataclasses.replace(marginal, **{name: value})
            return dataclasses.replace(whole, marginals=tuple(marginals))
    return None


def saved_with(effect, path, name, value):
    changed = with_changed(effect, name, value)
    assert changed is not None, name
    changed.save(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in (NOT_WHOLE | PARTS).items() for value in values],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_saved_effects_are_checked_as_a_whole_when_loaded(name, value, tmp_path, complains):
    path = tmp_path / "effect"
    saved_with(SAVED["curve"], path, name, value)
    with complains("path", "not a saved effect", name, "Hint", error=InputError):
        Effect.load(path)


@pytest.mark.parametrize(
    ("effect", "name", "value"),
    [
        ("kept", "row_weights", np.ones(2)),
        ("kept", "rows", np.arange(4)[None]),
        ("kept", "rows", None),
        ("kept", "rows", np.zeros(4)),
        ("kept", "individual", np.zeros((2, 4, 9))),
        ("kept", "row_values", {"n": np.zeros(3)}),
        ("levels", "levels", np.array(["a", "b", "c", "d"])),
        ("pair", "joint", "text"),
        ("pair", "sample", (np.zeros(3), np.zeros(4))),
        ("pair", "ordered", (True, None)),
        ("pair", "weight", np.ones(3)),
    ],
)
def test_what_only_some_effects_have_is_checked_too(effect, name, value, tmp_path, complains):
    path = tmp_path / "effect"
    saved_with(SAVED[effect], path, name, value)
    with complains("path", "not a saved effect", name, error=InputError):
        Effect.load(path)


def test_a_group_is_checked_like_the_whole(tmp_path, complains):
    path = tmp_path / "effect"
    whole = SAVED["curve"]
    label, group = next(iter(whole.groups.items()))
    wrong = dataclasses.replace(group, n_rows="many")
    dataclasses.replace(whole, groups={label: wrong}).save(path)
    with complains("path", "groups[", "n_rows", "'many'", error=InputError):
        Effect.load(path)
    other = FULL.partial_dependence("n", grid=4).groups[label]
    dataclasses.replace(whole, groups={label: other}).save(path)
    with complains("path", "groups[", "grid", error=InputError):
        Effect.load(path)


def test_files_of_other_kinds_are_refused(tmp_path):
    path = tmp_path / "effect"
    for content in (b"", b"hello", pickle.dumps([1]), b"PK\x03\x04" + b"\0" * 50, b"PK\x05\x06" + b"\0" * 18):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a saved effect"):
            Effect.load(path)
    with pytest.raises(InputError, match="is a folder"):
        Effect.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        Effect.load(tmp_path / "nothing")


def test_every_truncation_and_many_flipped_bytes_are_refused_or_harmless(tmp_path):
    path = tmp_path / "effect"
    effect = EXPLAINER.partial_dependence("n", grid=3)
    effect.save(path)
    content = path.read_bytes()
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(InputError):
            Effect.load(path)
    for at in RNG.integers(0, len(content), 150):
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(RNG.integers(8))
        path.write_bytes(damaged)
        with contextlib.suppress(InputError):  # or the bit fell where nothing is read
            assert isinstance(Effect.load(path), Effect)


def test_newer_files_say_so(tmp_path):
    path = tmp_path / "effect"
    rewritten(path, lambda d, p: d.update(version=99))
    with pytest.raises(InputError, match="newer"):
        Effect.load(path)
