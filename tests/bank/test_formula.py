r"""TeX as a line of text: right, or left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizapp.bank.formula import to_text


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\frac{N-1}{N}", "(N − 1)/N"),
        (r"2\cdot\frac{N-1}{N}\cdot\frac{S}{B}", "2 · (N − 1)/N · S/B"),
        (r"\frac{a}{b}c", "(a/b)c"),
        (r"\frac{a}{bc}", "a/(bc)"),
        (r"\frac{2n}{10}", "2n/10"),
        (r"1/\frac{a}{b}", "1/(a/b)"),
        (r"\frac{a}{b}^2", "(a/b)²"),
        (r"\log\frac{a}{b}", "log (a/b)"),
        (r"\frac{\frac{a}{b}}{c}", "(a/b)/c"),
        (r"\frac12", "1/2"),
        (r"x_i^2 + y_{max}^{-1}", "xᵢ² + yₘₐₓ⁻¹"),
        (r"\sum_{i=1}^{N} x_i", "∑ᵢ₌₁ᴺ xᵢ"),
        (r"e^{i\pi} + 1 = 0", "e^(iπ) + 1 = 0"),
        (r"{a+b}^2", "(a + b)²"),
        (r"\sqrt{x} y", "√(x)y"),
        (r"\sqrt{x^2+y^2}", "√(x² + y²)"),
        (r"\sqrt[3]{x}", "∛x"),
        (r"\log_2 N", "log₂ N"),
        (r"\left(\frac{a}{b}\right)^2", "(a/b)²"),
        (r"T_{\text{step}} = 5\,\text{ms}", "Tₛₜₑₚ = 5 ms"),
        (r"t = \lceil N/4 \rceil", "t = ⌈N/4⌉"),
        (r"O(n \log n)", "O(n log n)"),
        (r"-x \le -1", "−x ≤ −1"),
        (r"98\,\%", "98 %"),
        (r"W \in \mathbb{R}^{d \times k}", "W ∈ ℝ^(d×k)"),
        (r"\hat{y} \ne \bar{x}", "y\u0302 ≠ x\u0304"),
    ],
)
def test_what_is_understood(tex: str, text: str) -> None:
    assert to_text(tex) == text


@pytest.mark.parametrize(
    "tex",
    [
        r"\begin{matrix} a & b \end{matrix}",
        r"\underbrace{a+b}_{c}",
        r"\frac{a}{",
        r"\frac{a}",
        r"a^b^c",
        r"a^",
        r"\unknown x",
        r"{a",
        r"a}",
        r"\text{a \textbf{b}}",
        r"\sqrt[k+1",
        "\\",
        "{" * 500,
        "x" * 5000,
        "",
    ],
)
def test_what_is_not_understood_is_left_alone(tex: str) -> None:
    assert to_text(tex) is None


@given(st.text(r"ab12+-/^_{}()\frac sqrt{}\,", max_size=40))
def test_any_text_gives_a_line_or_nothing(tex: str) -> None:
    text = to_text(tex)
    assert text is None or (text and "\n" not in text)


@given(
    st.lists(st.sampled_from("abcxyz123"), min_size=1, max_size=8),
    st.lists(st.sampled_from("+-*/ "), min_size=8),
)
def test_no_letter_and_no_digit_is_lost(symbols: list[str], operators: list[str]) -> None:
    tex = "".join(symbol + operator for symbol, operator in zip(symbols, operators, strict=False))
    text = to_text(tex.strip("+-*/ ") or "a")
    assert text is not None
    assert [character for character in text if character.isalnum()] == symbols[: len(operators)]
