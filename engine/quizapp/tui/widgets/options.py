"""The options of a question: a marker in text, a letter, the text with a hanging indent, its demo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from quizapp.bank.text import visible
from quizapp.tui.glyphs import Glyphs
from quizapp.tui.render import Line, Run, line_width, wrap
from quizapp.tui.widgets.sheet import Sheet, filled

if TYPE_CHECKING:
    from quizapp.bank.model import Option
    from quizapp.tui.question_state import QuestionState

RunsOf = Callable[["Option"], list[list[Run]]]


class Options(Sheet):
    """Draws a QuestionState; the screen changes the state and calls `redraw`."""

    class Picked(Message):
        """An option was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._state: QuestionState | None = None
        self._texts: dict[str, Callable[[int], list[Line]]] = {}
        self._pairs: list[Callable[[int], list[Line]]] = []
        self._rows: list[tuple[int, int]] = []
        self._airy = False

    def show_options(
        self,
        state: QuestionState,
        texts: dict[str, Callable[[int], list[Line]]],
        pairs: list[Callable[[int], list[Line]]],
    ) -> None:
        """Show these options; `texts` and `pairs` lay out the text of each for a width."""
        self._state = state
        self._texts = texts
        self._pairs = pairs
        self.show(self._draw)

    def show_again(self) -> None:
        """Show the state as it is now, with as many lines as it takes now."""
        self.show(self._draw, keep_place=True)

    def set_airy(self, airy: bool) -> None:
        """Leave a blank line between options, or none."""
        if airy != self._airy:
            self._airy = airy
            self.show(self._draw, keep_place=True)

    def redraw(self) -> None:
        """Show the state as it is now; the lines keep their number, so nothing is laid out anew."""
        if self._state is None:
            return
        self._laid_out = None
        self.refresh()
        if self._rows and self._state.options:
            self.lines_at(self.size.width)
            first, last = self._rows[self._state.cursor]
            top, height = int(self.scroll_offset.y), self.size.height
            # One that is taller than the view is read where the learner has scrolled it to.
            if last - first < height or last < top or first >= top + height:
                self.bring_into_view(first, last)

    def scroll_within(self, steps: int) -> bool:
        """Scroll inside the option under the cursor, where it goes on beyond the view. True when it did."""
        if self._state is None or not self._rows:
            return False
        first, last = self._rows[self._state.cursor]
        top, height = int(self.scroll_offset.y), self.size.height
        by = max(1, height - 2)
        if steps > 0 and first <= top and last >= top + height:
            self.scroll_to(y=min(top + by, last - height + 1), animate=False)
        elif steps < 0 and first < top <= last:
            self.scroll_to(y=max(top - by, first), animate=False)
        else:
            return False
        return True

    def page(self, pages: int) -> int | None:
        """Scroll by a page; the row that the cursor should go to, None when there is none further on."""
        if self._state is None or not self._rows:
            return None
        top, height = int(self.scroll_offset.y), self.size.height
        target = max(0, min(top + pages * max(1, height - 1), len(self.lines) - height))
        if target == top:
            end = self._state.rows - 1 if pages > 0 else 0
            return end if end != self._state.cursor else None
        self.scroll_to(y=target, animate=False)
        rows = self._rows[: self._state.rows]
        inside = [row for row, (first, last) in enumerate(rows) if first >= target and last < target + height]
        covering = [row for row, (first, last) in enumerate(rows) if first <= target <= last]
        return next(iter(inside or covering), len(rows) - 1)

    @property
    def rows_below(self) -> int:
        """How many rows begin below what is in view."""
        bottom = int(self.scroll_offset.y) + self.size.height
        return sum(first >= bottom for first, _ in self._rows) if self.size.height else 0

    def _draw(self, width: int) -> list[Line]:
        state = self._state
        if state is None:
            return []
        lines: list[Line] = []
        self._rows = []
        if state.typed:
            return wrap(
                [(visible(state.given_in_words) or "nothing", "strong")], width, [(" you  ", "muted")]
            )
        if state.question.kind == "matching":
            return self._draw_pairs(state, width)
        for index, option in enumerate(state.options):
            if index and self._airy:
                lines.append([])
            start = len(lines)
            focused = index == state.cursor
            for line in self._row(index, option, width):
                lines.append(filled(line, width, "row") if focused else line)
            self._rows.append((start, len(lines) - 1))
        return lines

    def _row(self, index: int, option: Option, width: int) -> list[Line]:
        state = self._state
        if state is None:
            return []
        glyphs = self._glyphs
        focused = index == state.cursor
        tail: Line = [(f" {glyphs.play} demo", "accent")] if option.demo and state.demos else [(" " * 7, "")]
        marker, role = self._marker(option)
        edge: Run = (glyphs.cursor if focused else " ", "accent")
        head: Line = [edge, (f"{marker} ", role), (f"{state.letter(index)}  ", "strong" if focused else "")]
        rest: Line = [edge, (" " * (line_width(head) - 1), "")]
        room = width - line_width(head) - line_width(tail)
        body = self._texts[option.id](room)
        rows: list[Line] = [[*(rest if number else head), *line] for number, line in enumerate(body or [[]])]
        gap = width - line_width(tail) - line_width(rows[0])
        rows[0] = [*rows[0], (" " * max(0, gap), ""), *tail]
        note = state.note_on(index)
        if note:
            rows += wrap([(f"{note}", "em muted")], width, rest)
        return rows

    def _draw_pairs(self, state: QuestionState, width: int) -> list[Line]:
        """What is to be matched, each with its choice; below them the choices."""
        asked, glyphs = state.question, self._glyphs
        if asked.kind != "matching":
            return []
        lines: list[Line] = []
        letters = {option.id: state.letter(index) for index, option in enumerate(state.options)}
        for index, pair in enumerate(asked.pairs):
            start, focused = len(lines), index == state.cursor
            edge: Run = (glyphs.cursor if focused else " ", "accent")
            chosen = state.matched.get(pair.id)
            box: Run = (f"[{letters[chosen] if chosen else ' '}]", "key" if chosen else "")
            if state.submitted:
                right = chosen == asked.key[pair.id]
                sign, role = (glyphs.right, "right") if right else (glyphs.wrong, "wrong")
                box = (f"[{letters[chosen] if chosen else ' '}] {sign}", role)
            head: Line = [edge, (f"{index + 1:>2}  ", "strong" if focused else ""), box, ("  ", "")]
            rest: Line = [edge, (" " * (line_width(head) - 1), "")]
            for number, line in enumerate(self._pairs[index](width - line_width(head)) or [[]]):
                row: Line = [*(rest if number else head), *line]
                lines.append(filled(row, width, "row") if focused else row)
            self._rows.append((start, len(lines) - 1))
        lines.append([])
        for option in state.options:
            start = len(lines)
            head = [("     ", ""), (f"{letters[option.id]}  ", "strong")]
            for number, line in enumerate(self._texts[option.id](width - line_width(head)) or [[]]):
                lines.append([*([(" " * line_width(head), "")] if number else head), *line])
            self._rows.append((start, len(lines) - 1))
        return lines

    def _marker(self, option: Option) -> tuple[str, str]:
        state, glyphs = self._state, self._glyphs
        if state is None:
            return "", ""
        chosen = option.id in state.chosen
        if state.question.kind == "ordering":
            place = next(i for i, other in enumerate(state.options) if other.id == option.id)
            if state.submitted:
                right = state.question.items[place].id == option.id
                sign, role = (glyphs.right, "right") if right else (glyphs.wrong, "wrong")
                return f"{place + 1:>2} {sign}", role
            held = state.held and place == state.cursor
            return f"{place + 1:>2} {glyphs.move if held else ' '}", "key" if held else ""
        if state.submitted:
            sign = glyphs.right if option.correct else glyphs.wrong
            return (f"({sign})" if not state.multiple else f"[{sign}]"), (
                "right" if option.correct else "wrong"
            )
        if state.multiple:
            return ("[x]" if chosen else "[ ]"), ("key" if chosen else "")
        return (f"({glyphs.chosen})" if chosen else "( )"), ("key" if chosen else "")

    def on_click(self, event: events.Click) -> None:
        number = self.line_at(event.get_content_offset_capture(self))
        for index, (first, last) in enumerate(self._rows):
            if first <= number <= last:
                self.post_message(self.Picked(index))
                return
