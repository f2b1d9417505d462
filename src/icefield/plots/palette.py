"""Colours that readers with any colour vision can tell apart, on light and on dark ground."""

from __future__ import annotations

# Okabe and Ito's eight, ordered so that neighbours differ in lightness too. The yellow is too faint for
# lines on white and the dark blue for lines on black, so each ground has its own order.
ON_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A6A00", "#4D4D4D")
ON_DARK = ("#56B4E9", "#E69F00", "#2CC49B", "#E69AC6", "#F0E442", "#E0662A", "#7487F0", "#CFCFCF")

SEQUENTIAL = "viridis"
DIVERGING = "RdBu_r"


def along(share: float, dark: bool) -> float:
    """Where curves of numbers take their colours from a colour map: off its ends, which are close to white or to the ground."""
    return 0.3 + 0.68 * share if dark else 0.08 + 0.8 * share


def is_dark(red: float, green: float, blue: float) -> bool:
    """Whether a ground of this colour (channels from 0 to 1) asks for light ink."""
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.45


def deepening(
    ground: tuple[float, ...], ink: tuple[float, ...], text: tuple[float, ...]
) -> list[tuple[float, float, float]]:
    """Colours from nearly the ground's through an ink to nearly that of text: from little to much on any ground."""
    steps = [(0.1, 0.0), (0.45, 0.0), (0.8, 0.0), (1.0, 0.15), (1.0, 0.7)]
    return [blended(text, blended(ink, ground, share), dark) for share, dark in steps]


def blended(over: tuple[float, ...], under: tuple[float, ...], share: float) -> tuple[float, float, float]:
    """`over` mixed into `under`."""
    mixed = [share * a + (1 - share) * b for a, b in zip(over[:3], under[:3])]
    return mixed[0], mixed[1], mixed[2]
