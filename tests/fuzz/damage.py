"""Damaged copies of a file, by a seed: bits and bytes, pieces that are lost, doubled or moved, numbers that cannot be."""

from __future__ import annotations

import io
import re
import zipfile

import numpy as np

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
NUMBERS = (b"-1", b"0", b"1", b"2", b"255", b"65536", b"2147483647", b"2147483648", b"-2147483648", b"4294967297", b"99999999999999999999",
           b"1e308", b"-1e308", b"1e400", b"nan", b"NaN", b"inf", b"0.5", b"", b"x")  # fmt: skip
BYTES = (0, 1, 0x7F, 0x80, 0xFF)


def damaged(content: bytes, seed: int) -> bytes:
    """One damaged copy; the same for the same seed."""
    rng = np.random.default_rng(seed)
    if content[:2] == b"PK" and rng.random() < 0.8:  # whose sums would give any damage away
        return _within_archive(content, rng)
    return _several(content, rng)


def _several(content: bytes, rng: np.random.Generator) -> bytes:
    out = content
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        out = _once(out, rng)
    return out


def _within_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """An archive one of whose members is damaged, with the right sums."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sizes = np.array([len(member) for member in members.values()], dtype=float) + 1.0
    name = list(members)[rng.choice(len(members), p=sizes / sizes.sum() / 2 + 0.5 / len(sizes))]
    members[name] = _several(members[name], rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), member)
    return buffer.getvalue()


def _once(content: bytes, rng: np.random.Generator) -> bytes:
    if not content:
        return bytes(rng.integers(0, 256, 8).astype(np.uint8))
    is_text = b"\0" not in content[:512]
    kinds = ["bit", "byte", "lost", "doubled", "moved", "cut", "word"] + ["number"] * (6 if is_text else 0)
    kind = kinds[rng.integers(len(kinds))]
    out, at = bytearray(content), int(rng.integers(len(content)))
    length = int(rng.integers(1, 1 + min(64, len(content))))
    if kind == "bit":
        out[at] ^= 1 << int(rng.integers(8))
    elif kind == "byte":
        out[at] = BYTES[rng.integers(len(BYTES))]
    elif kind == "lost":
        del out[at : at + length]
    elif kind == "doubled":
        out[at:at] = out[at : at + length]
    elif kind == "moved":
        piece, to = bytes(out[at : at + length]), int(rng.integers(len(out)))
        out[to : to + len(piece)] = piece
    elif kind == "cut":
        del out[at:]
    elif kind == "word":
        out[at : at + 4] = int(rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1])).to_bytes(4, "little")
    else:
        start = max(0, at - 32)
        found = NUMBER.search(content, start)
        if found is not None:
            out[found.start() : found.end()] = NUMBERS[rng.integers(len(NUMBERS))]
    return bytes(out)
