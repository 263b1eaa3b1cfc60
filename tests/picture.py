# SPDX-License-Identifier: MIT
"""README's pictures: what `tailor report` prints of the demo's trace, up to its table of functions, as SVG; and of another trace, up to a line
that begins so.

    make demo
    /usr/bin/python3 tests/picture.py build >docs/report.svg

tests/everyday/server.js under load, recorded by `tailor run -o shop.tlr -- node server.js`:

    /usr/bin/python3 tests/picture.py build shop.tlr Event: >docs/node.svg

docs/spark.md's program, recorded by `tailor run --spark -o t.tlr -- python3 job.py`; options of the report come last:

    /usr/bin/python3 tests/picture.py build t.tlr query --view plan >docs/spark.svg
"""
import subprocess
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL, LINE, MARGIN, SIZE = 8.4, 19, 16, 14  # a character's width and a line's height in pixels, the edge, the font's size
BARS = {"█": 8, "▉": 7, "▊": 6, "▋": 5, "▌": 4, "▍": 3, "▎": 2, "▏": 1}  # eighths
STOP = "Functions"
STYLE = """.back { fill: #ffffff; stroke: #d0d7de } text { fill: #1f2328 } .head { font-weight: 600 } .bar { fill: #0969da }
@media (prefers-color-scheme: dark) {
.back { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 } .bar { fill: #4493f8 } }"""


def pieces(line):
    """(column, text) of what is written, and (column, eighths) of each bar; blanks between columns are left out."""
    at, texts, bars = 0, [], []
    for word in line.replace("  ", "\0 ").split("\0"):
        # bars stand in words of their own
        text, column = "", at
        for c in word:
            if c in BARS:
                if text.strip():
                    texts.append((column, text))
                bars.append((at, BARS[c]))
                text, column = "", at + 1
            else:
                text += c
            at += 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if text.strip():
            texts.append((column, text))
        at += 1
    return texts, bars


def picture(lines):
    columns = max(len(line) for line in lines)
    width, height = 2 * MARGIN + columns * CELL, 2 * MARGIN + len(lines) * LINE
    yield '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img">' % (width, height, width, height)
    yield "<title>%s</title>" % escape(lines[0])
    yield "<style>text { font: %dpx ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre }" % SIZE
    yield STYLE + "</style>"
    yield '<rect class="back" x="0.5" y="0.5" width="%g" height="%g" rx="6"/>' % (width - 1, height - 1)
    for row, line in enumerate(lines):
        y = MARGIN + row * LINE
        texts, bars = pieces(line)
        head = ' class="head"' if row and not lines[row - 1] and line[:1].isupper() else ""
        for column, text in texts:
            column += len(text) - len(text.lstrip())
            text = text.strip()
            # every piece stands at its column and is as wide as it has columns, whichever font there is
            yield '<text%s x="%g" y="%g" textLength="%g" lengthAdjust="spacingAndGlyphs">%s</text>' % (
                head, MARGIN + column * CELL, y + SIZE, len(text) * CELL, escape(text))
        for column, eighths in bars:
            yield '<rect class="bar" x="%g" y="%g" width="%g" height="%g"/>' % (
                MARGIN + column * CELL, y + 2, CELL * eighths / 8 + (0.3 if eighths == 8 else 0), LINE - 5)
    yield "</svg>"


def main():
    build = sys.argv[1]
    trace = sys.argv[2] if len(sys.argv) > 2 else build + "/fig9.tlr"
    options = sys.argv[4:]
    report = subprocess.run([build + "/tailor", "report", *options, trace], capture_output=True, text=True, check=True).stdout
    lines = report.split("\n")
    stop = sys.argv[3] if len(sys.argv) > 3 else STOP
    end = next((i for i, line in enumerate(lines) if line.startswith(stop)), len(lines))
    lines = ["$ " + " ".join(["tailor", "report", *options, trace.rsplit("/", 1)[-1]])] + lines[:end]
    while lines and not lines[-1]:
        lines.pop()
    print("\n".join(picture(lines)))


main()
