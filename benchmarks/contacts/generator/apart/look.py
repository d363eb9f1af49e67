"""How the half apart looks: pages of before 2005, of utility classes with pictures for labels, and of lists."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from benchmarks.contacts.generator.look import Parts

_ICON = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 5h18v14H3z"></path></svg>'


class ApartLook:
    """One page's style, drawn once."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._style = random.choice(("old", "utility", "parts"))

    def line(self, label: str, value: str) -> str:
        if self._style == "old":
            return f'<tr><td valign="top"><font size="2">{label}</font></td><td><font size="2">{value}</font></td></tr>'
        if self._style == "utility":
            return (
                f'<div class="flex items-center gap-3"><span class="w-5">{_ICON}</span>'
                f'<span class="sr-only">{label}</span><span class="text-sm"><span>{value}</span></span></div>'
            )
        return f"<dl><dt>{label}</dt>\n  <dd>{value}</dd></dl>"

    def link(self, href: str, text: str) -> str:
        if self._style == "utility":
            return f"<a class='underline hover:text-teal-600' data-track=\"cta\" href='{href}'><span>{text}</span></a>"
        if self._style == "old":
            return f"<A HREF={href} target=_top>{text}</A>"
        return f'<a href="{href}" part="link">\n    {text}\n  </a>'

    def block(self, lines: Sequence[str]) -> str:
        if self._style == "old":
            return "<font size=1>" + "<BR>".join(lines) + "</font>"
        tag = "p" if self._style == "utility" else "div"
        return "".join(f'<{tag} class="leading-6">{line}</{tag}>\n' for line in lines)

    def section(self, heading: str, lines: Sequence[str]) -> str:
        return f'<section><header><h3 class="font-bold">{heading}</h3></header>{self.block(lines)}</section>'

    def card(self, name: str, role: str, mail: str) -> str:
        if self._style == "old":
            return f"<tr><td><b>{name}</b><br><i>{role}</i></td><td>{mail}</td></tr>"
        return (
            f'<article class="person"><figure><img src="/media/portrait.webp" alt="{name}"></figure>'
            f'<div><p class="person__name">{name}</p><p class="person__position">{role}</p>'
            f'<p class="person__mail">{mail}</p></div></article>'
        )

    def form(self, action: str, placeholder: str) -> str:
        value = f' value="" placeholder="{placeholder}" aria-label="{placeholder}"' if placeholder else ""
        return (
            f"<form class='contact' method='POST' action='{action}'><fieldset><label>"
            f"<input name='from' type='email'{value}></label>"
            "<label><textarea name='text' rows='6'></textarea></label><input type='submit'></fieldset></form>"
        )

    def credit(self, words: str, agency: str, href: str, mail: str) -> str:
        who = f"<a href='{href}' target='_blank'>{agency}</a>" if href else f"<span>{agency}</span>"
        return f'<small class="opacity-60"><span>© 2026</span> <span>{words} {who}</span> <span>{mail}</span></small>'

    def opening(self, heading: str, rows: Sequence[tuple[str, str]]) -> str:
        if self._style == "old":
            return "".join(f"<tr><td>{days}</td><td>{times}</td></tr>" for days, times in ((heading, ""), *rows))
        items = "".join(f"<li><span>{days}</span> <time>{times}</time></li>" for days, times in rows)
        return f"<div class='opening'><p>{heading}</p><ul>{items}</ul></div>"

    def microdata(self, name: str, parts: dict[str, str]) -> str:
        shown = "\n".join(
            f"<meta itemprop='{key}' content='{value}'>"
            if key == "addressCountry"
            else f"<div itemprop='{key}'>{value}</div>"
            for key, value in parts.items()
        )
        return (
            f"<section itemscope itemtype='http://schema.org/ProfessionalService'><h2 itemprop='name'>{name}</h2>"
            f"<div itemprop='address' itemscope itemtype='http://schema.org/PostalAddress'>{shown}</div></section>"
        )

    def address(self, lines: Sequence[str]) -> str:
        return (
            "<address class='not-italic'>"
            + "".join(f"<span class='block'>{line}</span>\n" for line in lines)
            + "</address>"
        )

    def icons(self, links: Sequence[tuple[str, str]]) -> str:
        items = " ".join(f"<a rel='me noopener' aria-label='{name}' href='{href}'>{_ICON}</a>" for href, name in links)
        return f"<nav class='follow'>{items}</nav>"

    def page(self, parts: Parts) -> str:
        return self._old(parts) if self._style == "old" else self._new(parts)

    def _old(self, parts: Parts) -> str:
        menu = " | ".join(f"<a href=page{number}.htm>{text}</a>" for number, text in enumerate(parts.menu))
        texts = "".join(f"<tr><td colspan=2>{text}</td></tr>\n" for text in parts.texts)
        rows = "\n".join(
            fragment if fragment.startswith("<tr") else f"<tr><td colspan=2>{fragment}</td></tr>"
            for fragment in parts.body
        )
        foot = "".join(f"<tr><td colspan=2 align=center>{part}</td></tr>\n" for part in (*parts.footer, *parts.credits))
        return (
            '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">\n'
            f'<html lang="{parts.language}"><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8">'
            f"<title>{parts.title}</title>\n{''.join(parts.head)}</head>\n<body bgcolor=#ffffff>\n"
            f"<center>{menu}</center>\n"
            f"<table width=760 align=center><tr><td colspan=2><h1>{parts.heading}</h1></td></tr>\n{texts}{rows}\n{foot}"
            "</table>\n</body></html>\n"
        )

    def _new(self, parts: Parts) -> str:
        menu = "".join(f"<a class='px-4' href='/{number}/'>{text}</a>" for number, text in enumerate(parts.menu))
        texts = "".join(f"<div class='prose'><p>{text}</p></div>" for text in parts.texts)
        body = "".join(f"<div class='py-6'>{fragment}</div>\n" for fragment in parts.body)
        foot = "".join(f"<div class='col'>{fragment}</div>" for fragment in parts.footer)
        return (
            f"<!doctype html><html lang='{parts.language}' class='scroll-smooth'><head><meta charset='utf-8'>"
            f"<meta name='viewport' content='width=device-width'><title>{parts.title}</title>"
            f"{''.join(parts.head)}</head><body><div id='app'><header class='sticky'>{menu}</header>"
            "<div role='main'>"
            f"<h1>{parts.heading}</h1>{texts}{body}</div>"
            f"<div class='bg-slate-900 text-white'><div class='grid'>{foot}</div>"
            f"{''.join(parts.credits)}</div></div>"
            "</body></html>\n"
        )
