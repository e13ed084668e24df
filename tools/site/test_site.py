"""Tests of hooks.py and closed.py."""

import tempfile
import unittest
from pathlib import Path

from mkdocs.exceptions import PluginError

from closed import problems
from hooks import relink, stills

SITE = "https://site.example/docs/"


class RelinkTest(unittest.TestCase):
    def test_links(self):
        for at, link, want in (
            ("docs/usage.md", "formats.md#inputs", "formats.md#inputs"),
            ("docs/usage.md", "#time", "#time"),
            ("docs/usage.md", "https://a.example/b", "https://a.example/b"),
            ("docs/usage.md", "../README.md#install", "index.md#install"),
            ("docs/security.md", "../SECURITY.md", "https://github.com/bgremove/bgremove/blob/main/SECURITY.md"),
            ("docs/client.md", "../pkg/client", "https://github.com/bgremove/bgremove/tree/main/pkg/client"),
            ("README.md", "docs/model.md#where-it-fails", "model.md#where-it-fails"),
            ("README.md", "docs/images/people.webp", "images/people.webp"),
            ("README.md", "examples", "https://github.com/bgremove/bgremove/tree/main/examples"),
            ("tools/site/pages/api/code.md", "../../../../docs/api.md", "../api.md"),
            ("tools/site/pages/api/code.md", "operations.md", "operations.md"),
            ("site/pages/reference/index.md", "admin/index.md", "admin/index.md"),
        ):
            with self.subTest(at=at, link=link):
                self.assertEqual(relink(f"[a]({link}) and ![b]({link})", at), f"[a]({want}) and ![b]({want})")

    def test_code_stays(self):
        text = "```sh\n[a](../nothing)\n```\n"
        self.assertEqual(relink(text, "docs/usage.md"), text)

    def test_a_missing_file(self):
        with self.assertRaisesRegex(PluginError, r"docs/usage.md: ../nothing leads to no file"):
            relink("[a](../nothing)", "docs/usage.md")


class StillsTest(unittest.TestCase):
    def test_moving_pictures(self):
        self.assertEqual(
            stills('<p><img alt="a > b" src="../images/a.webp" /> <img src="b.png" /></p>'.replace(" > ", " &gt; ")),
            '<p><picture><source media="(prefers-reduced-motion: reduce)" srcset="../images/a-still.webp"><img alt="a &gt; b" src="../images/a.webp" /></picture> <img src="b.png" /></p>',
        )


class ProblemsTest(unittest.TestCase):
    def found(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"index_html": '<h1 id="top">', "a_css": "", **files}.items():
                Path(folder, name.replace("_", ".")).write_text(text)
            return problems(Path(folder), SITE)

    def test_a_good_site(self):
        page = '<link rel="canonical" href="https://x.example/"><link rel="stylesheet" href="a.css"><a href=".#top"></a><a href="/docs/b.html"></a><a href="https://x.example"></a><img src="data:,">'
        self.assertEqual(self.found(b_html=page, c_css="a{mask:url('data:,')}"), [])

    def test_dead_links(self):
        self.assertEqual(self.found(b_html='<source srcset="a-still.webp">'), ["b.html: a-still.webp leads nowhere"])
        self.assertEqual(self.found(b_html='<a href="c.html"></a><a href="./#low"></a>'), ["b.html: ./#low leads to no section", "b.html: c.html leads nowhere"])

    def test_other_hosts(self):
        for loaded in (
            '<script src="https://x.example/y">', '<link rel="preconnect" href="//x.example/y">', '<img src="a.css" srcset="a.css, https://x.example/y 2x">',
            '<p style="background:url(https://x.example/y)">', "<style>@import 'https://x.example/y'</style>", '<iframe src="https://x.example/y">',
        ):
            with self.subTest(loaded):
                (problem,) = self.found(b_html=loaded)
                self.assertRegex(problem, r"^b.html: .*x.example/y is loaded from another host")
        for style in ('@import "https://x.example/y";', "a{background:url( 'https://x.example/y' )}"):
            with self.subTest(style):
                self.assertEqual(self.found(b_css=style), ["b.css: https://x.example/y is loaded from another host"])


if __name__ == "__main__":
    unittest.main()
