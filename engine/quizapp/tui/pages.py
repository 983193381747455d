"""What a question's texts look like on a page: laid out for any width, numbered links kept. No Textual."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from quizapp.assess.reading import overlap_in_words
from quizapp.assess.scoring import mistake_of
from quizapp.bank.documents import document, known_document
from quizapp.bank.model import Matching, Numeric, Ordering, Reading, ShortText
from quizapp.bank.references import resolve
from quizapp.bank.strip import METERS
from quizapp.bank.text import visible
from quizapp.tui.glyphs import Glyphs
from quizapp.tui.render import Line, framed, lay_out, line_width, link_lines, wrap

if TYPE_CHECKING:
    from quizapp.bank.markdown import Block
    from quizapp.bank.model import Question
    from quizapp.tui.question_state import QuestionState

Build = Callable[[int], list[Line]]


class QuestionPage(NamedTuple):
    """Stem and options of a question, ready to be laid out."""

    stem: Build
    options: dict[str, Build]
    """By option id."""
    pairs: list[Build]
    """Of what is to be matched."""


class Pages:
    """Lays texts out as they are asked for; long ones are only parsed when their view is opened.

    `hurried`: until `settle`, a text that would need the parser is only glanced at.
    """

    def __init__(self, glyphs: Glyphs, *, hurried: bool = False) -> None:
        self._glyphs = glyphs
        self._hurried = hurried
        self._glanced = False

    def settle(self) -> bool:
        """From now on, texts are read in full. True when one was not, and is to be shown anew."""
        self._hurried = False
        return self._glanced

    def blocks(self, text: str, letters: dict[str, str]) -> tuple[Block, ...]:
        """A text of a question as blocks, its references to options as letters."""
        resolved = resolve(text, letters) if "{{" in text else text
        if not self._hurried:
            return document(resolved)
        known = known_document(resolved)
        if known is not None:
            return known
        from quizapp.tui.glance import glance

        self._glanced = True
        return glance(resolved)

    def question(self, state: QuestionState) -> QuestionPage:
        """Stem and options."""
        letters = letters_of(state)
        stem = state.question.stem

        def build_stem(width: int) -> list[Line]:
            layout = lay_out(self.blocks(stem, letters), width, glyphs=self._glyphs)
            return layout.lines + ([[], *link_lines(layout.links, width)] if layout.links else [])

        options = {option.id: self.text(option.text, letters) for option in state.options}
        asked = state.question
        pairs = [self.text(pair.text, letters) for pair in asked.pairs] if isinstance(asked, Matching) else []
        return QuestionPage(build_stem, options, pairs)

    def text(self, text: str, letters: dict[str, str]) -> Build:
        """Any one text, its links numbered at its end."""

        def build(width: int) -> list[Line]:
            layout = lay_out(self.blocks(text, letters), width, glyphs=self._glyphs)
            return layout.lines + (link_lines(layout.links, width) if layout.links else [])

        return build

    def typed(self, state: QuestionState) -> Build:
        """Of a response without options: what was given and why it is wrong, the key and why it is right."""

        def build(width: int) -> list[Line]:
            glyphs, letters = self._glyphs, letters_of(state)
            right = state.score is not None and str(state.score.verdict) == "correct"
            sign, role = (glyphs.right, "right") if right else (glyphs.wrong, "wrong")
            given = visible(state.given_in_words) or "nothing"
            lines = wrap([(given, "strong")], width, [(f"{sign} ", role), ("you   ", "muted")])
            if isinstance(state.question, Reading) and (
                near := overlap_in_words(state.question, state.response)
            ):
                lines += wrap([(near, "")], width, [(" " * 8, "")])
            why = "" if right else mistake_of(state.question, state.response)
            if why:
                lines += [[(" " * 8, ""), *line] for line in self.text(why, letters)(width - 8)]
            lines += [
                [],
                *wrap(
                    [(visible(state.key_in_words), "strong")],
                    width,
                    [(f"{glyphs.right} ", "right"), ("key   ", "muted")],
                ),
            ]
            question = state.question
            if isinstance(question, Numeric | ShortText | Reading):
                rationale = self.text(question.rationale, letters)(width - 8)
                lines += [[(" " * 8, ""), *line] for line in rationale]
            if isinstance(question, Reading):
                lines += [[], *self._recording(state, question, width)]
            return lines

        return build

    def parts(self, state: QuestionState) -> Build:
        """Of items in order or matched pairs: what became of each, and why."""

        def build(width: int) -> list[Line]:
            glyphs, asked, letters = self._glyphs, state.question, letters_of(state)
            texts = {option.id: option.text for option in asked.options}
            rows: list[tuple[bool, str, str, str]] = []
            if isinstance(asked, Ordering):
                given = state.response.selected
                for place, item in enumerate(asked.items):
                    rows.append((given[place : place + 1] == (item.id,), letters[item.id], item.text, ""))
            elif isinstance(asked, Matching):
                for pair in asked.pairs:
                    key = asked.key[pair.id]
                    words = f"{pair.text} {glyphs.arrow} {texts[key]}"
                    rows.append((state.matched.get(pair.id) == key, letters[key], words, pair.rationale))
            lines: list[Line] = []
            for number, (right, letter, text, why) in enumerate(rows, 1):
                sign, role = (glyphs.right, "right") if right else (glyphs.wrong, "wrong")
                head: Line = [(f"{sign} ", role), (f"{number:>2}  ", ""), (f"{letter}  ", "strong")]
                indent = [(" " * line_width(head), "")]
                body = self.text(text, letters)(width - line_width(head))
                lines += [[*(indent if row else head), *line] for row, line in enumerate(body or [[]])]
                if why:
                    lines += [[*indent, *line] for line in self.text(why, letters)(width - line_width(head))]
            if isinstance(asked, Ordering | Matching) and asked.rationale:
                lines += [[], *self.text(asked.rationale, letters)(width)]
            return lines

        return build

    def _recording(self, state: QuestionState, question: Reading, width: int) -> list[Line]:
        """Both meters of a recording with what was picked, and how near it came."""
        from quizapp.tui.reading_state import ReadingState
        from quizapp.tui.reading_view import strip_page

        lines: list[Line] = []
        for meter in METERS:
            shown = ReadingState(question, state.response, submitted=True, score=state.score)
            shown.strip.shown = meter
            page = strip_page(shown, width, self._glyphs, active=False).lines
            lines += page[:-1] if meter == METERS[0] else page
            lines.append([])
        return lines

    def short(self, state: QuestionState) -> Build:
        """The short explanation, and where to read on."""
        question = state.question

        def build(width: int) -> list[Line]:
            links: list[str] = []
            letters = letters_of(state)
            why = mistake_of(question, state.response)
            texts = [question.explanation.short] if not why else [why, question.explanation.short]
            lines: list[Line] = []
            for text in texts:
                blocks = self.blocks(text, letters)
                lines += [[]] if lines else []
                lines += lay_out(blocks, width, glyphs=self._glyphs, links=links).lines
            return lines + self._references(question, width, links)

        return build

    def picture(self, state: QuestionState, path_of: Callable[[str], str]) -> Build:
        """The figure's description in a frame, and where the picture itself is."""
        figure = state.question.explanation.figure

        def build(width: int) -> list[Line]:
            if figure is None:
                return wrap([("This question has no picture.", "muted")], width)
            alt = lay_out(self.blocks(figure.alt, letters_of(state)), width - 4, glyphs=self._glyphs).lines
            lines = framed("What the picture shows", alt, width, self._glyphs)
            lines += [[], *wrap([(path_of(figure.src), "address")], width, [("Picture: ", "muted")])]
            return lines

        return build

    def full(self, state: QuestionState) -> Build:
        """The full explanation with its links and the references."""
        question = state.question

        def build(width: int) -> list[Line]:
            text = question.explanation.full
            if not text:
                return wrap([("This question has no longer explanation.", "muted")], width)
            links: list[str] = []
            lines = lay_out(
                self.blocks(text, letters_of(state)), width, glyphs=self._glyphs, links=links
            ).lines
            return lines + self._references(question, width, links)

        return build

    def links(self, question: Question, letters: dict[str, str]) -> list[tuple[str, str]]:
        """Title and address of every reference and link of a question, references first."""
        found = [(reference.title, reference.url) for reference in question.references]
        texts = [question.stem, question.explanation.short, question.explanation.full]
        texts += [text for option in question.options for text in (option.text, option.rationale)]
        if isinstance(question, Ordering | Matching):
            texts.append(question.rationale)
        if isinstance(question, Matching):
            texts += [text for pair in question.pairs for text in (pair.text, pair.rationale)]
        if isinstance(question, Numeric | ShortText | Reading):
            texts += [question.rationale, *(mistake.rationale for mistake in question.mistakes)]
        links: list[str] = []
        for text in texts:
            if text:
                lay_out(self.blocks(text, letters), 80, glyphs=self._glyphs, links=links)
        known = {url for _, url in found}
        return found + [("", url) for url in links if url not in known]

    def _references(self, question: Question, width: int, links: Sequence[str]) -> list[Line]:
        lines: list[Line] = []
        if links:
            lines += [[], *link_lines(links, width)]
        if question.references:
            lines += [[], [("Read on", "strong")]]
            for reference in question.references:
                lines += wrap(
                    [(f"{reference.title}  ", ""), (reference.url, "address")],
                    width,
                    [(f"{self._glyphs.bullet} ", "muted")],
                )
        return lines


def letters_of(state: QuestionState) -> dict[str, str]:
    """The letter of each option id on screen."""
    return {option.id: state.letter(index) for index, option in enumerate(state.options)}
