"""What all screens share: title line, key bar, the keys that work everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding, BindingType
from textual.screen import Screen

from quizapp.tui.glyphs import Glyphs
from quizapp.tui.render import Line, fit, line_width
from quizapp.tui.widgets.key_bar import Key, KeyBar
from quizapp.tui.widgets.one_line import OneLine
from quizapp.tui.widgets.painted import Backdrop

if TYPE_CHECKING:
    from textual._path import CSSPathType

    from quizapp.tui.app import QuizApp

WIDE = 110
SHORT = 16
_LEAST_TITLE = 12


class QuizScreen(Backdrop, Screen[object]):
    """A screen with a title line on top and a key bar at the bottom."""

    AUTO_FOCUS = ""
    # Read when the first screen of all but the question is shown: the first question stands sooner without.
    CSS_PATH: ClassVar[CSSPathType | None] = "../later.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (SHORT, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", tooltip="Go back. Everything is saved.", id="back"),
        Binding("question_mark", "keys", "Keys", tooltip="Show every key of this screen.", id="keys"),
        Binding("q,ctrl+c", "leave", "Quit", tooltip="Leave quizapp. Everything is saved.", id="quit"),
        Binding(
            "ctrl+p", "app.command_palette", "Commands", tooltip="Find a command by its name.", id="palette"
        ),
    ]

    HELP_TITLE: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        # Known from the start, the size need not have everything styled a second time.
        size = self.app.size
        self.add_class(
            "-wide" if size.width >= WIDE else "-narrow",
            "-tall" if size.height >= SHORT else "-short",
            update=False,
        )
        self.title_line = OneLine(id="title")
        self._title: tuple[Line, Line] | None = None
        self.key_bar = KeyBar()

    @property
    def is_current(self) -> bool:
        """Whether anything of this screen is in view.

        Textual counts the screen right below the top one, too: under an opaque one it would be painted for
        nobody, and the top one a second time.
        """
        return super().is_current and (self.app.screen is self or self.app.screen.is_modal)

    @property
    def quiz(self) -> QuizApp:
        """The app, typed."""
        return cast("QuizApp", self.app)

    def tick(self) -> None:
        """Called each second while an exam's clock runs; screens that show it draw it anew."""

    @property
    def glyphs(self) -> Glyphs:
        """The signs that this terminal can show."""
        return self.quiz.glyphs

    @property
    def wide(self) -> bool:
        """True when there is room for two columns."""
        return self.app.size.width >= WIDE

    def show_title(self, left: Line, right: Line) -> None:
        """The title line: `left` is cut where it does not fit beside `right`."""

        def build(width: int) -> list[Line]:
            facts = right
            room = width - line_width(facts) - 2
            if room < _LEAST_TITLE:  # the first fact is the one to keep
                facts = right[:1]
                room = width - line_width(facts) - 2
            return [[*cut(left, room, self.glyphs), *_gap(left, room), *facts]]

        if (left, right) != self._title:
            self._title = (left, right)
            self.title_line.show(build)

    def show_keys(self, *keys: Key) -> None:
        """The key bar; `?` is always there."""
        self.key_bar.show(*keys, ("question_mark", "?", "Keys"))

    def key_rows(self) -> list[tuple[str, str]]:
        """Keys and what they do, for the cheat sheet: taken from the bindings, so that it can't go stale."""
        by_text: dict[str, list[str]] = {}
        for cls in reversed([cls for cls in type(self).__mro__ if issubclass(cls, QuizScreen)]):
            for binding in cls.__dict__.get("BINDINGS", ()):
                if isinstance(binding, Binding):
                    text = binding.tooltip or binding.description
                    names = by_text.setdefault(text, [])
                    names += [self._key_name(key) for key in binding.key.split(",")]
        # What belongs to this screen first, what works everywhere last.
        everywhere = [b.tooltip or b.description for b in QuizScreen.BINDINGS if isinstance(b, Binding)]
        own = [(text, names) for text, names in by_text.items() if text not in everywhere]
        common = [(text, by_text[text]) for text in everywhere]
        return [(_in_short(list(dict.fromkeys(names))), text) for text, names in [*own, *common]]

    def _key_name(self, key: str) -> str:
        unicode = self.glyphs.enter != "Enter"
        names = {
            "question_mark": "?",
            "left_square_bracket": "[",
            "right_square_bracket": "]",
            "slash": "/",
            "exclamation_mark": "!",
            "escape": "Esc",
            "enter": "Enter",
            "space": "Space",
            "up": "↑" if unicode else "Up",
            "down": "↓" if unicode else "Down",
            "left": "←" if unicode else "Left",
            "right": "→" if unicode else "Right",
            "pageup": "PgUp",
            "pagedown": "PgDn",
            "home": "Home",
            "end": "End",
            "backspace": "Backspace",
            "tab": "Tab",
            "shift+left": "Shift+←" if unicode else "Shift+Left",
            "shift+right": "Shift+→" if unicode else "Shift+Right",
            "ctrl+left": "Ctrl+←" if unicode else "Ctrl+Left",
            "ctrl+right": "Ctrl+→" if unicode else "Ctrl+Right",
            "ctrl+p": "Ctrl+P",
            "ctrl+c": "Ctrl+C",
        }
        return names.get(key, key)

    def action_back(self) -> None:
        """Esc."""
        self.quiz.go_back()

    async def action_keys(self) -> None:
        """`?`."""
        self.quiz.show_keys_of(self)

    def action_leave(self) -> None:
        """`q`."""
        self.quiz.leave()


def _in_short(names: list[str]) -> str:
    """Rows of neighbours as their ends: `1-9 a-h`."""
    runs: list[list[str]] = []
    for name in names:
        follows = runs and len(name) == len(runs[-1][-1]) == 1 and ord(name) == ord(runs[-1][-1]) + 1
        if follows and name.isalnum():
            runs[-1].append(name)
        else:
            runs.append([name])
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else " ".join(run) for run in runs)


def cut(line: Line, width: int, glyphs: Glyphs | None = None) -> Line:
    """A line of runs, cut with an ellipsis to fit."""
    kept: Line = []
    used = 0
    for text, roles in line:
        shown = fit(text, width - used, glyphs) if glyphs else fit(text, width - used)
        if shown:
            kept.append((shown, roles))
        used += line_width([(shown, roles)])
        if shown != text:
            break
    return kept


def _gap(left: Line, room: int) -> Line:
    return [(" " * max(0, room + 2 - min(line_width(left), room)), "")]
