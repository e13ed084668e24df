"""Adds to mkdocs the pages that are not in docs/, the links to files outside of it, and the
check of the built pages."""

import posixpath
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from closed import problems

ROOT = Path(__file__).parents[2]
OWN = ROOT / "tools/site"
MADE = ROOT / "site/pages"  # tools/site.sh has the program write them
REPOSITORY = "https://github.com/bgremove/bgremove"

LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def sources():
    """The files that are not in docs/, by their paths in the site."""
    found = {"index.md": ROOT / "README.md"}
    for folder in (OWN / "pages", MADE):
        found |= {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    found["style/site.css"] = OWN / "style/site.css"
    found["images/mark.svg"] = ROOT / "internal/service/dashboard/assets/mark.svg"
    return found


def on_config(config):
    """Puts the commands' pages into the navigation."""
    for entry in config.nav:
        if entry.get("Reference"):
            entry["Reference"] = commands(MADE / "reference")
    return config


def commands(folder):
    """The navigation of a folder of commands: its own page, and those below."""
    below = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            below.append({path.name: commands(path)})
        elif path.name != "index.md":
            below.append({path.stem: path.relative_to(MADE).as_posix()})
    return [(folder / "index.md").relative_to(MADE).as_posix(), *below]


def on_files(files, config):
    for name, path in sources().items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Makes the links that are right in the repository right in the site."""
    return relink(markdown, Path(page.file.abs_src_path).relative_to(ROOT).as_posix())


def relink(markdown, at):
    """The text of the page whose source is at a path of the repository."""
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S)
    for i in range(0, len(parts), 2):
        parts[i] = LINK.sub(lambda found: found[1] + target(found[2], at) + found[3], parts[i])
    return "".join(parts)


def target(link, at):
    """Where a link leads in the site, if it is in the source at a path of the repository."""
    to, mark, section = link.partition("#")
    if ":" in to or not to:
        return link
    path = posixpath.normpath(posixpath.join(posixpath.dirname(at), to))
    if name := in_site(path):
        return posixpath.relpath(name, posixpath.dirname(in_site(at)) or ".") + mark + section
    if not (ROOT / path).exists():
        raise PluginError(f"{at}: {link} leads to no file of the repository")
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{path}{mark}{section}"


def in_site(path):
    """The place in the site of a path of the repository, or nothing."""
    if path == "README.md":
        return "index.md"
    for folder in ("docs/", "tools/site/pages/", "site/pages/"):
        if path.startswith(folder):
            return path.removeprefix(folder)
    return ""


def on_page_content(html, page, config, files):
    """Lets the keyboard scroll tables, which are wider than a narrow window."""
    return stills(html).replace("<table>", '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>').replace("</table>", "</table></div>")


def stills(html):
    """Adds to each moving picture its still, for readers who want no motion. It is beside the
    picture, and the check of the built pages finds out if it is missing."""
    return re.sub(r'<img [^>]*src="([^"]+)\.webp"[^>]*>', r'<picture><source media="(prefers-reduced-motion: reduce)" srcset="\1-still.webp">\g<0></picture>', html)


def on_post_page(output, page, config):
    """Gives the search a name for screen readers, which the theme forgets."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_post_build(config):
    found = problems(Path(config.site_dir), config.site_url)
    if found:
        raise PluginError("\n".join(found))
