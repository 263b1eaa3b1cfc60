#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The documents as a folder of web pages, README.md as its first: dist/site.py FOLDER

Every .md file of the tree becomes a page at its own place; what they link to beside that (pictures, schemas, programs) is copied.  No script,
nothing from elsewhere.  Exit status 1: a link leads to no file, or to no heading, of the folder; which, is said.
"""
import html
import os
import re
import shutil
import subprocess
import sys

if not shutil.which("cmark-gfm"):
    sys.exit("site.py: cmark-gfm is missing (apt-get install cmark-gfm)")

SHOWN = ["README.md", "docs/tour.md", "docs/install.md", "docs/reading-a-report.md", "docs/page.md", "docs/attach.md"]
LEFT_OUT = (".", "build", "tests/fuzz/corpus")

STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --link: light-dark(#0550ae, #79b8ff); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 78rem; display: grid; grid-template-columns: 14rem minmax(0, 1fr); gap: 2rem; padding: 1.5rem;
  font: 1rem/1.55 system-ui, sans-serif; }
nav { font-size: .95rem; position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow: auto; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .15rem .5rem; border-left: 2px solid var(--line); text-decoration: none; }
nav a[aria-current] { font-weight: 600; border-color: currentColor; }
a { color: var(--link); }
a:focus-visible { outline: 2px solid; outline-offset: 2px; }
main { min-width: 0; }
h1, h2, h3 { line-height: 1.25; }
pre { overflow-x: auto; padding: .75rem 1rem; background: var(--soft); border-radius: .3rem; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
:not(pre) > code { background: var(--soft); padding: .1em .25em; border-radius: .2rem; overflow-wrap: anywhere; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; }
@media (max-width: 50rem) { body { grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 1rem; } nav { position: static; max-height: none; order: 2; } }
@media print { nav { display: none; } body { display: block; } }
"""


def tracked():
    if os.path.exists(".git"):
        names = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout.split("\0")
    else: # an unpacked archive, which may lie in another's checkout
        names = [os.path.relpath(os.path.join(d, f), ".") for d, _, files in os.walk(".") for f in files]
    return sorted(n for n in names if n and not n.startswith(LEFT_OUT))


def slug(heading):
    """As GitHub makes anchors of headings, which the documents' links mean."""
    return re.sub(r"[^\w\- ]", "", html.unescape(re.sub("<[^>]*>", "", heading)).strip().lower()).replace(" ", "-")


def page_name(document):
    folder, name = os.path.split(document)
    return os.path.join(folder, "index.html" if name == "README.md" else name[:-3] + ".html")


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.files = set(tracked())
        self.documents = [f for f in self.files if f.endswith(".md")]
        self.text = {d: open(d, encoding="utf-8").read() for d in self.documents}
        self.title = {d: (re.search(r"^# (.*)", t, re.M) or [0, d])[1].replace("`", "") for d, t in self.text.items()}
        self.anchors = {}
        self.links = []
        self.faults = []

    def target(self, document, to):
        """Where a link of a document leads in the folder; what is no document is copied there."""
        path, _, anchor = to.partition("#")
        at = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
        if at + "/README.md" in self.files or at == ".":
            at = os.path.normpath(at + "/README.md")
        if at in self.files and not at.endswith(".md"):
            os.makedirs(os.path.join(self.folder, os.path.dirname(at)), exist_ok=True)
            shutil.copyfile(at, os.path.join(self.folder, at))
        elif at not in self.files:
            self.faults.append(f"{document}: {to}: no such file, or a folder without README.md")
            return to
        page = page_name(at) if at.endswith(".md") else at
        if anchor:
            self.links.append((document, to, at, anchor))
        return os.path.relpath(page, os.path.dirname(page_name(document)) or ".") + ("#" + anchor if anchor else "")

    def body(self, document):
        body = subprocess.run(["cmark-gfm", "-e", "table"], input=self.text[document], check=True, capture_output=True, text=True).stdout
        body = re.sub(r"<(h\d)>(.*)</", lambda m: f'<{m[1]} id="{slug(m[2])}">{m[2]}</', body)
        self.anchors[document] = set(re.findall(r'<h\d id="([^"]*)"', body))
        body = re.sub(r'(href|src)="([^"]*)"', lambda m: m[0] if re.match(r"[a-z]+:", m[2]) else
                      f'{m[1]}="{html.escape(self.target(document, html.unescape(m[2])))}"', body)
        return body.replace("<table>", '<div class="table" tabindex="0"><table>').replace("</table>", "</table></div>")

    def menu(self, document):
        here = os.path.dirname(page_name(document)) or "."
        first = [d for d in SHOWN if d in self.text]
        rest = sorted((d for d in self.documents if d.startswith("docs/") and d not in first), key=lambda d: self.title[d].lower())
        rest += [d for d in ("jitreg/README.md", "jitreg/GUIDE.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md") if d in self.text]
        return "".join(f'<li><a href="{os.path.relpath(page_name(d), here)}"{" aria-current=page" if d == document else ""}>'
                       f"{html.escape(self.title[d])}</a></li>" for d in first + rest)

    def make(self):
        for document in self.documents:
            out = os.path.join(self.folder, page_name(document))
            os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
            title = self.title[document] + ("" if document == "README.md" else ", tailor")
            with open(out, "w", encoding="utf-8") as f:
                f.write(f'<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
                        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n<nav aria-label=\"Documents\"><ul>{self.menu(document)}"
                        f"</ul></nav>\n<main>\n{self.body(document)}\n</main>\n</html>\n")
        self.faults += [f"{d}: {to}: no such heading" for d, to, at, anchor in self.links
                        if at.endswith(".md") and anchor not in self.anchors[at]]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    site = Site(sys.argv[1])
    site.make()
    print("\n".join(site.faults) or f"{sys.argv[1]}/index.html: {len(site.documents)} pages, {len(site.links)} links to headings")
    sys.exit(bool(site.faults))


main()
