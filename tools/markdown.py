"""Markdown as HTML for the report: markdown.py OUT.html CMARK IN.md

CMARK is the program cmark-gfm; with "none" the page shows the text as it is written. cmark-gfm leaves out raw HTML and
links that could run scripts, and escapes '<' in text: the tags replaced here are its own.
"""
import html
import re
import subprocess
import sys

FIRST_HEADING = 3  # the page's own end at <h2>


def shift_heading(tag):
    return f"<{tag[1]}h{min(int(tag[2]) + FIRST_HEADING - 1, 6)}>"


def render(cmark, path):
    out = subprocess.run([cmark, "--to", "html", "--extension", "table", path], check=True, stdout=subprocess.PIPE,
                         encoding="utf-8").stdout
    out = re.sub(r"<(/?)h([1-6])>", shift_heading, out)
    for tag, wanted in (("<table>", '<div class="scroll" tabindex="0"><table>'), ("</table>", "</table></div>"),
                        ("<pre>", '<pre tabindex="0">'), ("<a ", '<a rel="noreferrer" ')):
        out = out.replace(tag, wanted)
    return out


def main():
    out, cmark, path = sys.argv[1:]
    if cmark != "none":
        text = render(cmark, path)
    else:
        with open(path, encoding="utf-8") as f:
            text = f'<pre tabindex="0">{html.escape(f.read())}</pre>\n'
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)


main()
