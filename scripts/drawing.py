"""Shared by the scripts that draw: an SVG in light and dark, and text in it."""
import html

# The colours of heed's own pages.
STYLE = """
  svg { --page: #ffffff; --line: #c9d0d9; --text: #1a1f26; --muted: #4f5965; --weight: #0b4f9e; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #13161a; --line: #3d4550; --text: #e9ecf0; --muted: #aeb7c2; --weight: #71b3ff; } }
  .page { fill: var(--page); stroke: var(--line); } .cell { fill: var(--weight); }
  .frame { fill: none; stroke: var(--line); }
  text { fill: var(--text); font: 13px ui-monospace, Menlo, Consolas, monospace; }
  .muted { fill: var(--muted); } .words { font: 14px system-ui, sans-serif; }
  .title { font: 600 15px system-ui, sans-serif; } .middle { text-anchor: middle; } .end { text-anchor: end; }
"""


def svg(width, height, label, style, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-label="{html.escape(label)}">\n<style>{style}</style>\n' + "\n".join(body) + "\n</svg>\n")


def text(x, y, words, kind=""):
    return f'<text x="{x:g}" y="{y:g}"' + (f' class="{kind}"' if kind else "") + f">{html.escape(words)}</text>"


def page(width, height, title, *lines):
    """What a picture begins with: its page, a title and lines below it."""
    return [f'<rect class="page" x="0.5" y="0.5" width="{width - 1}" height="{height}" rx="10"/>', text(18, 30, title, "title"),
            *(text(18, 52 + 19 * i, line, "words muted") for i, line in enumerate(lines))]
