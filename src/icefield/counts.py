"""How many, as text: the same wherever rows, curves or points are counted."""

from __future__ import annotations


def counted(number: int) -> str:
    """A whole number as people write it: a true minus sign, thousands separated from 10,000 on.

    Examples
    --------
    >>> counted(314), counted(1500), counted(336776), counted(-12345)
    ('314', '1500', '336,776', '−12,345')
    """
    number = int(number)
    text = f"{abs(number):,}" if abs(number) >= 10_000 else str(abs(number))
    return f"−{text}" if number < 0 else text
