"""Writes the documentation of Python's own library, as its pydoc makes it, into a folder: write-pydoc.py FOLDER. Prints how many pages."""

import contextlib
import importlib
import io
import os
import pydoc
import sys
import warnings

PAGES_MAX = 110

# These open windows or browsers, print, or are not there everywhere.
UNFIT = {"antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter", "test", "lib2to3", "ensurepip", "venv"}


def page(name):
    """The page of a module, or None where it cannot be imported here."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pydoc.html.page(name, pydoc.html.document(importlib.import_module(name), name))
    except Exception:
        return None


def write(folder, name, text):
    with open(os.path.join(folder, name + ".html"), "w", encoding="utf-8", errors="xmlcharrefreplace") as file:
        file.write(text)


def main(folder):
    count = 0
    for name in sorted(sys.stdlib_module_names):
        if count < PAGES_MAX and not name.startswith("_") and name not in UNFIT:
            text = page(name)
            if text is not None:
                write(folder, name, text)
                count += 1
    write(folder, "index", pydoc.html.page("Index", pydoc.html.index(os.path.dirname(os.__file__))))
    print(count + 1)


main(sys.argv[1])
