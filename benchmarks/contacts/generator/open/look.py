"""How the open half looks: three frames (plain, of a kit of classes, of a blog program) with the markup of each."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from benchmarks.contacts.generator.look import Parts


class OpenLook:
    """One page's style, drawn once."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._style = random.choice(("plain", "kit", "blog"))

    def line(self, label: str, value: str) -> str:
        if self._style == "plain":
            return f"<p>{label}{'' if label.endswith(':') else ':'} {value}</p>"
        if self._style == "kit":
            return f'<div class="row"><div class="col-4"><b>{label}</b></div><div class="col-8">{value}</div></div>'
        return f'<ul class="wp-block-list"><li><b>{label}</b> {value}</li></ul>'

    def link(self, href: str, text: str) -> str:
        classes = {"plain": "", "kit": ' class="btn btn-link"', "blog": ' class="wp-block-button__link"'}
        return f'<a{classes[self._style]} href="{href}">{text}</a>'

    def block(self, lines: Sequence[str]) -> str:
        return "<p>" + "<br>\n".join(lines) + "</p>"

    def section(self, heading: str, lines: Sequence[str]) -> str:
        return f"<h2>{heading}</h2>\n{self.block(lines)}"

    def card(self, name: str, role: str, mail: str) -> str:
        if self._style == "plain":
            return f"<h3>{name}</h3><p>{role}<br>{mail}</p>"
        return (
            '<div class="card team-member"><img src="/img/team.jpg" alt=""><div class="card-body">'
            f'<h4 class="card-title">{name}</h4><p class="card-subtitle">{role}</p><p>{mail}</p></div></div>'
        )

    def form(self, action: str, placeholder: str) -> str:
        hint = f' placeholder="{placeholder}"' if placeholder else ""
        return (
            f'<form action="{action}" method="post" enctype="text/plain"><input type="text" name="name">'
            f'<input type="email" name="email"{hint}><textarea name="message"></textarea><button>OK</button></form>'
        )

    def credit(self, words: str, agency: str, href: str, mail: str) -> str:
        who = f'<a href="{href}" rel="nofollow">{agency}</a>' if href else agency
        return f'<p class="copyright">{words} {who} {mail}</p>'

    def opening(self, heading: str, rows: Sequence[tuple[str, str]]) -> str:
        if self._style == "plain":
            return f"<h3>{heading}</h3><p>" + "<br>".join(f"{days}: {times}" for days, times in rows) + "</p>"
        cells = "".join(f"<tr><td>{days}</td><td>{times}</td></tr>" for days, times in rows)
        return f'<h3>{heading}</h3><table class="table hours">{cells}</table>'

    def microdata(self, name: str, parts: dict[str, str]) -> str:
        spans = "<br>".join(f'<span itemprop="{key}">{value}</span>' for key, value in parts.items())
        return (
            f'<div itemscope itemtype="https://schema.org/LocalBusiness"><span itemprop="name">{name}</span>'
            f'<div itemprop="address" itemscope itemtype="https://schema.org/PostalAddress">{spans}</div></div>'
        )

    def address(self, lines: Sequence[str]) -> str:
        return "<address>" + "<br>\n".join(lines) + "</address>"

    def icons(self, links: Sequence[tuple[str, str]]) -> str:
        items = "".join(
            f'<li><a href="{href}" target="_blank"><i class="fa fa-{name}"></i></a></li>' for href, name in links
        )
        return f'<ul class="social">{items}</ul>'

    def page(self, parts: Parts) -> str:
        menu = "".join(f'<li><a href="/{number}">{text}</a></li>' for number, text in enumerate(parts.menu))
        texts = "\n".join(f"<p>{text}</p>" for text in parts.texts)
        body = "\n".join(parts.body)
        footer = "\n".join(f"<div>{fragment}</div>" for fragment in parts.footer)
        return (
            f'<!DOCTYPE html>\n<html lang="{parts.language}">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{parts.title}</title>\n"
            f'{chr(10).join(parts.head)}\n</head>\n<body class="{self._style}">\n'
            f"<header><nav><ul>{menu}</ul></nav></header>\n"
            f"<main>\n<h1>{parts.heading}</h1>\n{texts}\n{body}\n</main>\n"
            f'<footer class="site-footer">\n{footer}\n{chr(10).join(parts.credits)}\n</footer>\n</body>\n</html>\n'
        )
