"""Amounts in words."""

from __future__ import annotations

from decimal import Decimal


def size(count: int) -> str:
    """`3,412 bytes`."""
    return counted(count, "byte")


def counted(count: int, noun: str) -> str:
    """`1 call`, `3,412 calls`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def counted_entries(count: int) -> str:
    """`1 entry`, `3,412 entries`."""
    return f"{count:,} entr{'y' if count == 1 else 'ies'}"


def all_digits(value: float) -> str:
    """`30`, `0.1234567`, `1000000000`: a number as it is, without an exponent."""
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def dollars(money: float | None) -> str:
    """`$0.0123`, or that the price is not known."""
    if money is None:
        return "price not known"
    return "<$0.0001" if 0 < money < 0.0001 else f"${money:.4f}"


def spent(tokens_in: int, tokens_out: int, cached: int, money: float | None) -> str:
    """`3,120 tokens in (2,048 cached), 88 out, $0.0123`; empty if nothing was paid."""
    tokens = f"{counted(tokens_in, 'token')} in"
    kept = f" ({cached:,} cached)" if cached else ""
    parts = [
        f"{tokens}{kept}, {tokens_out:,} out" if tokens_in or tokens_out else "",
        dollars(money) if money != 0 else "",
    ]
    return ", ".join(filter(None, parts))
