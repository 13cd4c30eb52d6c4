"""What ``vicinal demo`` does: data where near means the wrong thing, before and after.

Functions here return data or a figure, or write a page, and print nothing; `vicinal.cli` shows
the numbers.
"""

from vicinal.demo.chapter import N_NEIGHBORS, Chapter, Outcome, Split
from vicinal.demo.chapters import load_wines
from vicinal.demo.pictures import draw, draw_chapter, write_page
from vicinal.demo.story import Story, tell_story

__all__ = [
    "N_NEIGHBORS",
    "Chapter",
    "Outcome",
    "Split",
    "Story",
    "draw",
    "draw_chapter",
    "load_wines",
    "tell_story",
    "write_page",
]
