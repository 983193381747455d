"""What the app is given: learner, store, demos, and how a bank is opened and a sitting begun. No Textual."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quizapp.errors import QuizappError

if TYPE_CHECKING:
    from quizapp.assess.review import Today
    from quizapp.bank.library import OpenBank
    from quizapp.bank.listing import BankEntry
    from quizapp.lab.catalogue import DemoDeclaration
    from quizapp.lab.ground import Grounds
    from quizapp.lab.request import Device
    from quizapp.lab.runner import Lab
    from quizapp.store.begin import Adapt
    from quizapp.store.sitting import Sitting
    from quizapp.store.store import AttemptSummary, Store
    from quizapp.tui.taking import Taking


class Desk:
    """Everything that a learner's screens need of the rest of quizapp."""

    def __init__(
        self,
        store: Store,
        learner: str,
        *,
        seed: int | None = None,
        draw: int | None = None,
        adapt: Adapt | None = None,
        device: Device = "auto",
        demo_folders: Sequence[Path] | None = None,
        bank_folders: Sequence[Path] | None = None,
        make_lab: Callable[[], Lab] | None = None,
    ) -> None:
        self.store = store
        self.learner = learner
        self.seed = seed
        self.draw = draw
        self.adapt = adapt
        self.device = device
        self._demo_folders = demo_folders
        self._bank_folders = bank_folders
        self._make_lab = make_lab
        self._catalogue: Mapping[str, DemoDeclaration] | None = None
        self._grounds: Grounds | None = None
        self._bank: OpenBank | None = None
        self._taking: Taking | None = None
        self.notices: list[str] = []
        """What the learner must be told at the next opportunity."""

    # Banks and sittings.

    @property
    def taking(self) -> Taking | None:
        """The sitting on screen."""
        return self._taking

    @property
    def bank(self) -> OpenBank | None:
        """The bank of the sitting on screen; None where only the attempt is left of it."""
        return self._bank

    def sit(self, sitting: Sitting, bank: OpenBank | None) -> Taking:
        """Put a sitting on screen."""
        from quizapp.tui.taking import Taking

        self.leave_sitting()
        self._bank = bank
        self._grounds = None
        self._taking = Taking(sitting)
        return self._taking

    def leave_sitting(self) -> None:
        """Let the sitting on screen go; it can be resumed."""
        if self._taking is not None:
            self._taking.sitting.close()
            self._taking = None

    def begin(self, bank: Path | str, *, fresh: bool, mode: str | None = None) -> Taking:
        """Open a bank, by its id or path, and go on with its open attempt unless a fresh one is wanted."""
        from quizapp.store.begin import begin_named

        self.leave_sitting()
        opened, beginning = begin_named(
            self.store,
            str(bank),
            self.learner,
            mode=mode,
            fresh=fresh,
            seed=self.seed,
            draw=self.draw,
            adapt=self.adapt,
        )
        self.store = beginning.store
        self.notices += beginning.notices
        return self.sit(beginning.sitting, opened)

    def redo(self, question_ids: Sequence[str]) -> Taking:
        """A new sitting on some questions of the bank on screen."""
        bank = self._bank
        if bank is None:
            raise QuizappError("The bank of this attempt is not there any more.")
        self.leave_sitting()
        return self.sit(self.store.start(bank, self.learner, only=question_ids), bank)

    def entries(self) -> list[BankEntry]:
        """The banks to pick from, broken ones with what is wrong with them."""
        from quizapp.bank.listing import list_banks

        return list_banks(self._bank_folders)

    def errors(self, path: Path) -> str:
        """Everything that keeps a bank from being taken, a finding a paragraph."""
        from quizapp.bank.findings import BankError
        from quizapp.bank.library import open_bank

        try:
            open_bank(path)
        except BankError as error:
            return "\n\n".join(str(finding) for finding in error.findings)
        except QuizappError as error:
            return str(error)
        return "It can be taken now: nothing is wrong with it any more."

    def attempts(self) -> list[AttemptSummary]:
        """All attempts of the learner, newest first."""
        return self.store.attempts(self.learner)

    def review_today(self, path: Path) -> Today:
        """What a review of a bank asks the learner today."""
        from quizapp.bank.library import open_bank
        from quizapp.store.history import due_today

        return due_today(self.store, open_bank(path), self.learner)

    def picture(self, src: str) -> str:
        """Where a figure of the bank on screen is, to be opened with another program."""
        return str(self._bank.path.parent / src) if self._bank is not None else src

    def picture_from_here(self, src: str) -> str:
        """The same, as the user would type it: from the working directory where it lies under that."""
        where = Path(self.picture(src))
        here = Path.cwd()
        return str(where.relative_to(here) if where.is_relative_to(here) else where)

    # Demos.

    @property
    def catalogue(self) -> Mapping[str, DemoDeclaration]:
        """The demos of this installation and of the folders that the user named."""
        if self._catalogue is None:
            from quizapp.lab.confirmed import catalogue

            # Folders that the user named were confirmed before the screen was taken; here nobody is asked.
            self._catalogue = catalogue(tuple(self._demo_folders or ()))
        return self._catalogue

    @property
    def grounds(self) -> Grounds:
        """On what the keys of the bank on screen stand. Slow at first: reads the demos and the evidence file.

        QuizappError where the demos can't be read.
        """
        if self._grounds is None:
            from quizapp.lab.evidence import lab_source
            from quizapp.lab.ground import grounds_of_bank

            bank = self._bank
            lab_source()
            self._grounds = grounds_of_bank(
                bank.path if bank is not None else None, self.catalogue, self.store
            )
        return self._grounds

    def lab(self) -> Lab:
        """A new lab."""
        if self._make_lab is not None:
            return self._make_lab()
        from quizapp.lab.runner import Lab

        return Lab()
