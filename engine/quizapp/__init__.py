"""quizapp: a quiz whose answer key is tested by experiment."""

__version__ = "0.1.0"
