r"""TeX formulas as a line of text: \frac{N-1}{N} is (N − 1)/N.

Only what is understood whole is converted. Matrices, braces under terms and anything unknown stay TeX: a
formula that reads wrong is worse than one that reads slowly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

MAX_LENGTH = 2000
MAX_DEPTH = 20


def _table(names: str, signs: str) -> dict[str, str]:
    return dict(zip(names.split(), signs, strict=True))


_SYMBOLS = _table(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi"
    " chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon vartheta varphi"
    " varrho varsigma ell hbar partial nabla infty emptyset varnothing Re Im forall exists neg lnot top bot"
    " angle degree circ ldots dots cdots vdots aleph prime dagger",
    "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩεϑφϱςℓℏ∂∇∞∅∅ℜℑ∀∃¬¬⊤⊥∠°∘……⋯⋮ℵ′†",
)
_BINARY = _table(
    "times cdot div pm mp ast star oplus ominus otimes odot cup cap setminus wedge land vee lor bullet",
    "×·÷±∓∗⋆⊕⊖⊗⊙∪∩∖∧∧∨∨•",
)
_RELATIONS = _table(
    "le leq ge geq ne neq approx equiv sim simeq cong propto ll gg to rightarrow leftarrow gets"
    " leftrightarrow Rightarrow implies Leftarrow Leftrightarrow iff mapsto in notin ni subset subseteq"
    " supset supseteq mid parallel perp prec succ models vdash uparrow downarrow",
    "≤≤≥≥≠≠≈≡∼≃≅∝≪≫→→←←↔⇒⇒⇐⇔⇔↦∈∉∋⊂⊆⊃⊇∣∥⊥≺≻⊨⊢↑↓",
)
_LARGE = _table("sum prod int oint coprod bigcup bigcap", "∑∏∫∮∐⋃⋂")
_BRACKETS = {
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩", "lbrace": "{",
    "rbrace": "}", "lbrack": "[", "rbrack": "]", "lvert": "|", "rvert": "|", "vert": "|", "lVert": "‖",
    "rVert": "‖", "Vert": "‖", "|": "‖", "{": "{", "}": "}",
}  # fmt: skip
_FUNCTIONS = frozenset(
    {
        "log",
        "ln",
        "lg",
        "exp",
        "sin",
        "cos",
        "tan",
        "cot",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
    }
    | {"max", "min", "sup", "inf", "lim", "limsup", "liminf", "arg", "argmax", "argmin", "det", "dim", "gcd"}
    | {"ker", "deg", "Pr", "mod", "bmod"}
)
_ACCENTS = {
    "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "overline": "\u0304", "vec": "\u20d7",
    "tilde": "\u0303", "widetilde": "\u0303", "dot": "\u0307", "ddot": "\u0308",
}  # fmt: skip
_BLACKBOARD = dict(zip("RNZQCEP", "ℝℕℤℚℂ𝔼ℙ", strict=True))
_LETTERS = frozenset(
    ["mathrm", "mathit", "mathbf", "mathsf", "mathtt", "mathcal", "boldsymbol", "bm", "mathbb"]
)
_WORDS = frozenset(["text", "textbf", "textit", "textrm", "texttt", "operatorname", "mbox"])
_SPACES = frozenset([",", ";", ":", ">", " ", "!", "quad", "qquad", "thinspace", "enspace", "space"])
_IGNORED = frozenset(["displaystyle", "textstyle", "limits", "nolimits", "left", "right", "middle"]) | {
    f"{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")
}
_SUPERSCRIPT = dict(
    zip(
        "0123456789+−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW′∗",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ′*",
        strict=True,
    )
)
_SUBSCRIPT = dict(zip("0123456789+−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))


class _NotUnderstood(Exception):
    pass


@dataclass(slots=True)
class _Part:
    """A piece of the line.

    `kind`: atom, fraction, root, binary, relation, comma, open, close, function, space.
    """

    text: str
    kind: str = "atom"


@lru_cache(maxsize=512)
def to_text(tex: str) -> str | None:
    """The formula as a line of text, or None where it isn't understood whole."""
    if len(tex) > MAX_LENGTH:
        return None
    try:
        reader = _Reader(tex)
        parts = reader.parts(closing="")
        return _join(parts) or None
    except _NotUnderstood:
        return None


class _Reader:
    def __init__(self, tex: str) -> None:
        self._tokens = _tokens(tex)
        self._next = 0
        self._depth = 0

    def parts(self, closing: str) -> list[_Part]:
        """Everything up to `closing`, which is consumed."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _NotUnderstood
        parts: list[_Part] = []
        while True:
            sign = self._take(or_end=True)
            if sign == closing:
                self._depth -= 1
                return parts
            if sign in ("", "}"):
                raise _NotUnderstood
            if sign in ("^", "_"):
                parts.append(self._scripts(parts.pop() if parts else _Part(""), sign))
            elif sign == "'":
                parts.append(_Part((parts.pop().text if parts else "") + "′"))
            elif not sign.isspace():
                parts += self._piece(sign)

    def _piece(self, sign: str) -> list[_Part]:
        if sign == "{":
            return self._group()
        if not sign.startswith("\\"):
            return [_character(sign)]
        name = sign[1:]
        for names, kind in (
            (_SYMBOLS, "atom"),
            (_BINARY, "binary"),
            (_RELATIONS, "relation"),
            (_LARGE, "function"),
        ):
            if name in names:
                return [_Part(names[name], kind)]
        if name in _BRACKETS:
            bracket = _BRACKETS[name]
            kind = "close" if bracket in "⌋⌉⟩}]" else "open" if bracket in "⌊⌈⟨{[" else "atom"
            return [_Part(bracket, kind)]
        if name in _FUNCTIONS:
            return [_Part(name.removeprefix("b") if name == "bmod" else name, "function")]
        if name in _SPACES:
            return [_Part("  " if "quad" in name else " ", "space")] if name != "!" else []
        if name in _IGNORED:
            return self._delimiter(name)
        if name in "%$_#&" and name:
            return [_Part(name)]
        return [self._command(name)]

    def _command(self, name: str) -> _Part:
        if name in ("frac", "dfrac", "tfrac", "cfrac"):
            above, below = self._argument(), self._argument()
            if not above or not below:
                raise _NotUnderstood
            return _Part(f"{_bracketed(above, factors=True)}/{_bracketed(below)}", "fraction")
        if name == "sqrt":
            degree = self._degree()
            return _Part(degree + _bracketed(self._argument()), "root")
        if name in _WORDS:
            return _Part(self._words(), "function" if name == "operatorname" else "atom")
        if name in _LETTERS:
            text = _join(self._argument())
            return _Part(_BLACKBOARD.get(text, text) if name == "mathbb" else text)
        if name in _ACCENTS:
            text = _join(self._argument())
            if len(text) != 1:
                raise _NotUnderstood
            return _Part(text + _ACCENTS[name])
        if name in ("pmod",):
            return _Part(f" (mod {_join(self._argument())})")
        raise _NotUnderstood

    def _group(self) -> list[_Part]:
        """What stands in braces, so that a script after it is of the whole."""
        inner = self.parts("}")
        if self._peek() in ("^", "_") and len(inner) > 1:
            return [_Part(_bracketed(inner))]
        return inner

    def _argument(self) -> list[_Part]:
        sign = self._take()
        while sign.isspace():
            sign = self._take()
        if sign == "{":
            return self.parts("}")
        if sign in ("^", "_", "}", "'"):
            raise _NotUnderstood
        return self._piece(sign)

    def _degree(self) -> str:
        if self._peek() != "[":
            return "√"
        self._take()
        degree = ""
        while (sign := self._take()) != "]":
            degree += sign
        known = {"3": "∛", "4": "∜"}.get(degree)
        if known:
            return known
        raised = _raised(degree, _SUPERSCRIPT)
        if not raised:
            raise _NotUnderstood
        return f"{raised}√"

    def _words(self) -> str:
        """The text in braces as it was written, spaces and all."""
        if self._take() != "{":
            raise _NotUnderstood
        text = ""
        while (sign := self._take()) != "}":
            if sign == "{" or (sign.startswith("\\") and sign[1:] not in ("%", "$", "_", "#", "&", " ")):
                raise _NotUnderstood
            text += sign.removeprefix("\\") if len(sign) == 2 else sign
        return text

    def _delimiter(self, name: str) -> list[_Part]:
        if name in ("displaystyle", "textstyle", "limits", "nolimits"):
            return []
        sign = self._take()
        return [] if sign == "." else self._piece(sign)

    def _scripts(self, base: _Part, sign: str) -> _Part:
        scripts: dict[str, str] = {}
        while sign in ("^", "_"):
            if sign in scripts:
                raise _NotUnderstood
            script = self._argument()
            text = _join(script, tight=True)
            if not text:
                raise _NotUnderstood
            raised = _raised(text, _SUPERSCRIPT if sign == "^" else _SUBSCRIPT)
            scripts[sign] = raised or sign + (text if len(text) == 1 else f"({text})")
            if self._peek() not in ("^", "_"):
                break
            sign = self._take()
        text = base.text
        if base.kind in ("fraction", "root"):
            text = f"({text})"
        kind = base.kind if base.kind in ("function", "close", "open") else "atom"
        return _Part(text + scripts.get("_", "") + scripts.get("^", ""), kind)

    def _peek(self) -> str:
        while self._next < len(self._tokens) and self._tokens[self._next].isspace():
            self._next += 1
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self, *, or_end: bool = False) -> str:
        if self._next >= len(self._tokens):
            if or_end:
                return ""
            raise _NotUnderstood
        self._next += 1
        return self._tokens[self._next - 1]


def _tokens(tex: str) -> list[str]:
    tokens: list[str] = []
    place = 0
    while place < len(tex):
        end = place + 1
        if tex[place] == "\\":
            while end < len(tex) and tex[end].isascii() and tex[end].isalpha():
                end += 1
            end = max(end, min(place + 2, len(tex)))
        tokens.append(tex[place:end])
        place = end
    return tokens


def _character(sign: str) -> _Part:
    if sign in "&%#$\\":
        raise _NotUnderstood
    if sign in "+-*":
        return _Part({"-": "−", "*": "∗"}.get(sign, sign), "binary")
    if sign in "=<>":
        return _Part(sign, "relation")
    if sign in ",;":
        return _Part(sign, "comma")
    if sign in "([":
        return _Part(sign, "open")
    if sign in ")]":
        return _Part(sign, "close")
    return _Part(" " if sign == "~" else sign, "space" if sign == "~" else "atom")


def _join(parts: list[_Part], *, tight: bool = False) -> str:
    """One line; with `tight`, without the spaces around operators."""
    line = ""
    previous = ""  # kind of the part before; spaces don't count
    for index, part in enumerate(parts):
        text = part.text
        following = parts[index + 1] if index + 1 < len(parts) else None
        touched = following is not None and following.kind in ("atom", "open", "fraction", "root", "function")
        if part.kind == "fraction" and (
            touched or previous == "function" or line.rstrip().endswith(("/", "÷"))
        ):
            text = f"({text})"
        elif part.kind == "root" and touched and not text.endswith(")"):
            text = f"{text[0]}({text[1:]})" if text[0] in "√∛∜" else f"({text})"
        unary = part.kind == "binary" and previous in ("", "binary", "relation", "comma", "open", "function")
        if tight:
            pass
        elif part.kind == "relation" or (part.kind == "binary" and not unary):
            line = f"{line.rstrip()} " if line else ""
            text = f"{text} "
        elif part.kind == "comma":
            text = f"{text} "
        elif (part.kind == "function" and previous in ("atom", "close", "fraction", "root")) or (
            previous == "function" and part.kind in ("atom", "fraction", "root", "function")
        ):
            line = line if line.endswith(" ") else f"{line} "
        if part.kind == "space" and line.endswith(" "):
            continue
        line += text
        if part.kind != "space":
            previous = part.kind
    return line.strip()


def _bracketed(parts: list[_Part], *, factors: bool = False) -> str:
    """The parts as one operand. With `factors`, a product needs no brackets (it stands above a line)."""
    line = _join(parts)
    bare = all(part.kind == "atom" and " " not in part.text for part in parts)
    number = bare and all(part.text in "0123456789." for part in parts)
    if not line:
        raise _NotUnderstood
    if number or (bare and (len(parts) == 1 or factors)) or _enclosed(parts):
        return line
    return f"({line})"


def _enclosed(parts: list[_Part]) -> bool:
    depth = 0
    for index, part in enumerate(parts):
        depth += (part.kind == "open") - (part.kind == "close")
        if depth == 0 and index < len(parts) - 1:
            return False
    return bool(parts) and parts[0].kind == "open" and parts[-1].kind == "close" and len(parts[-1].text) == 1


def _raised(text: str, signs: dict[str, str]) -> str:
    """`text` in small raised or lowered signs, or "" when one is missing."""
    if len(text) > 12 or any(character not in signs for character in text):
        return ""
    return "".join(signs[character] for character in text)
