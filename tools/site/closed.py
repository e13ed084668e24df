"""Checks built pages: each link within the site leads somewhere, and no page loads anything
from another host."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

# A page loads these at once; a link it only follows.
LOADED = {"img": "src", "script": "src", "source": "src", "video": "src", "audio": "src", "iframe": "src", "embed": "src", "input": "src", "object": "data"}
LOADED_RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest", "apple-touch-icon"}


class Page(HTMLParser):
    """The addresses that a page has."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(LOADED.get(tag)):
            self.loaded.append(given[LOADED[tag]])
        self.loaded += [one.split()[0] for one in (given.get("srcset") or "").split(",") if one.strip()]
        if tag == "link" and LOADED_RELATIONS & set((given.get("rel") or "").split()):
            self.loaded.append(given["href"])
        self.loaded += styled(given.get("style") or "")

    def handle_data(self, text):
        if self.get_starttag_text() == "<style>":
            self.loaded += styled(text)


def styled(text):
    """The addresses that a style sheet loads."""
    return [a or b for a, b in re.findall(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", text) if not (a or b).startswith(("data:", "#"))]


def problems(folder, site_url):
    """The problems of the site in a folder, one line each."""
    address = {path: urljoin(site_url, path.relative_to(folder).as_posix().removesuffix("index.html")) for path in folder.rglob("*") if path.is_file()}
    files = {url: path for path, url in address.items()}
    pages = {path: Page(path.read_text()) for path in address if path.suffix == ".html"}
    found = []
    for path, page in pages.items():
        # The page of errors has addresses from the top of the host, wherever it appears.
        for link in page.loaded + page.links:
            url = urljoin(address[path], link)
            place, _, section = url.partition("#")
            at = files.get(unquote(place))
            if not url.startswith(site_url):
                if link in page.loaded and urlsplit(url).scheme != "data":
                    found.append(f"{path.relative_to(folder)}: {link} is loaded from another host")
            elif at is None:
                found.append(f"{path.relative_to(folder)}: {link} leads nowhere")
            elif section and at in pages and unquote(section) not in pages[at].ids:
                found.append(f"{path.relative_to(folder)}: {link} leads to no section")
    for path in address:
        if path.suffix == ".css":
            found += [f"{path.relative_to(folder)}: {url} is loaded from another host" for url in styled(path.read_text()) if not urljoin(address[path], url).startswith(site_url)]
    return sorted(set(found))
