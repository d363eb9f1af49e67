"""The forms in which a website shows an address, each under the name that the public benchmark of contacts gives it.

A form is a template of HTML; `§name§` is filled in by `cloaking.values_of`. Forms that are code are in `script_forms`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """How an address is written."""

    name: str
    body: str
    head: str = ""
    language: str | None = None
    """Of the page, where the form belongs to one."""
    shows: tuple[str, ...] = ("email",)
    """Which of the values `email`, `second` and `third` can be read there."""
    rejects: tuple[str, ...] = ()
    """What stands there beside it and is nobody's."""
    mailbox: str | None = None
    """Where not every mailbox will do: `freemail`, `idn` or `mail.ru`."""


def _json_ld(rest: str) -> str:
    return f'<script type="application/ld+json">{{"@context": "https://schema.org", {rest}}}</script>'


TEXT_FORMS = (
    Form("plain-text", "<p>Write to §email§ or drop in.</p>"),
    Form("entities-decimal", "<p>§decimal§</p>"),
    Form("entities-hex", '<p><a href="§link_hex§">§hex§</a></p>'),
    Form("entities-named", "<p>§local§&commat;§stem§&period;§tld§</p>"),
    Form("entities-mixed", '<p><a href="mailto:§mixed§">§mixed§</a></p>'),
    Form("at-square", "<p>E-mail: §local§ [at] §stem§ [dot] §tld§</p>"),
    Form("at-round", "<p>E-mail: §local§(at)§domain§</p>"),
    Form("at-curly", "<p>E-mail: §local§ {at} §stem§ {dot} §tld§</p>"),
    Form("at-upper", "<p>E-mail: §local§ AT §stem§ DOT §tld§</p>"),
    Form("at-underscore", "<p>E-mail: §local§_at_§domain§</p>"),
    Form("at-german", "<p>Mail: §local§ [ät] §stem§ [punkt] §tld§</p>", language="de"),
    Form("at-klammer", "<p>Mail: §local§(ät)§stem§ punkt §tld§</p>", language="de"),
    Form("at-spanish", "<p>Escríbanos a §local§ arroba §stem§ punto §tld§ o venga.</p>", language="es"),
    Form("at-spanish-brackets", "<p>Correo: §local§ (arroba) §stem§ (punto) §tld§</p>", language="es"),
    Form("at-italian", "<p>Scrivere a §local§ chiocciola §stem§ punto §tld§</p>", language="it"),
    Form("at-french", "<p>Courriel : §local§ (arobase) §stem§ (point) §tld§</p>", language="fr"),
    Form("at-russian", "<p>Почта: §local§ собака §stem§ точка §tld§</p>", language="ru"),
    Form("at-polish", "<p>E-mail: §local§ (małpa) §stem§ (kropka) §tld§</p>", language="pl"),
    Form("at-dutch", "<p>Mail naar §local§ [apenstaartje] §stem§ [punt] §tld§</p>", language="nl"),
    Form("at-greek", "<p>Email: §local§ (παπάκι) §stem§ (τελεία) §tld§</p>", language="el"),
    Form("comma-for-dot", "<p>E-mail: §local§@mail,ru</p>", language="ru", mailbox="mail.ru"),
    Form("spaces", "<p>E-mail: §local§ @ §domain§</p>"),
    Form("split-tags", "<p><span>§local§</span><span>@</span><b>§stem§</b><span>.§tld§</span></p>"),
    Form("split-comments", "<p>§local§<!-- no -->@<!-- spam -->§stem§<!-- please -->.§tld§</p>"),
    Form(
        "decoy-inline",
        '<p>§local§<span style="display:none">.away</span>@§stem§<span style="display: none">.invalid</span>.§tld§</p>'
        '<p style="display:none">trap@§domain§</p>',
        rejects=("trap@§domain§",),
    ),
    Form(
        "decoy-class",
        '<p>§local§@<span class="zz">notthere.</span>§domain§</p>',
        head="<style>body{font:16px serif}.zz{display:none}@media print{main{color:#000}}</style>",
    ),
    Form("zero-width", "<p>§local§&#8203;@§stem_first§&#x200d;§stem_rest§.§tld§</p>"),
    Form("soft-hyphen", "<p>§local§@§stem_first§&shy;§stem_rest§.§tld§</p>"),
    Form("full-width", "<p>メール：§full_width§</p>", language="ja"),
    Form("bidi-override", "<p>&#x202e;§reversed§&#x202c;</p>"),
    Form(
        "css-backwards",
        '<p class="back">§reversed§</p>',
        head="<style>.back{unicode-bidi:bidi-override;direction:rtl;text-align:left}</style>",
    ),
    Form("css-backwards-inline", '<p><span style="direction:rtl; unicode-bidi:bidi-override">§reversed§</span></p>'),
    Form(
        "css-backwards-external",
        '<p><span class="rtl">§reversed§</span></p>',
        head='<link rel="stylesheet" href="/style.css">',
    ),
    Form("image-at", '<p>§local§<img src="/img/at.gif" alt="@" width="12" height="12">§domain§</p>'),
    Form("glued-label", "<div><span>Email:§email§</span><span>Phone: ask for it</span></div>"),
    Form("glued-case", "<p>Email:§email§Telephone on request</p>"),
    Form(
        "glued-before",
        '<p><span>Office</span><span>§email§</span></p><p>Desk 7<a href="mailto:§second§">§second§</a></p>',
        shows=("email", "second"),
    ),
    Form(
        "trailing-dot",
        "<p>Questions? Write to §email§. We answer (also at &lt;§second§&gt;, “the office”).</p>",
        shows=("email", "second"),
    ),
    Form("sentence-glued", "<p>Write to §email§.We answer the same day.</p>"),
    Form("upper-case", "<p>MAIL: §upper§</p>"),
    Form("idn", "<p>Schreiben Sie an §local§@§idn§</p>", language="de", mailbox="idn"),
    Form("punycode", '<p><a href="mailto:§email§">Post</a></p>', language="de", mailbox="idn"),
    Form("cjk-neighbours", "<p>ご予約はメール§email§までお願いします。</p>", language="ja"),
    Form("freemail", "<p>§name§, by appointment<br>§email§</p>", mailbox="freemail"),
    Form("noscript", '<p class="js-mail"></p><noscript><p>§email§</p></noscript>'),
)

LINK_FORMS = (
    Form("mailto", '<p><a href="mailto:§email§">Write to us</a></p>'),
    Form(
        "mailto-subject",
        '<p><a href="mailto:§email§?subject=A%20question&amp;cc=§second§&amp;bcc=§third§&amp;body=Hi">Ask</a></p>',
        shows=("email", "second", "third"),
    ),
    Form("mailto-upper", '<p><A HREF="MAILTO:§title§">Message</A></p>'),
    Form("mailto-percent", '<p><a href="mailto:%20§local§%40§domain§%20">Message</a></p>'),
    Form("mailto-percent-all", '<p><a href="mailto:§percent§">Message</a></p>'),
    Form(
        "mailto-several",
        '<p><a href="mailto:§email§,§second§;§third§">To all of us</a></p>',
        shows=("email", "second", "third"),
    ),
    Form("mailto-named", '<p><a href="mailto:§name_percent§%20%3C§email§%3E">Message</a></p>'),
    Form("href-bare", '<p><a href="§email§">Send a message</a></p>'),
    Form("slip-in-link", '<p><a href="mailto:§misspelt§">§email§</a></p>', rejects=("§misspelt§",)),
    Form(
        "cloudflare-attribute",
        '<p><a href="/cdn-cgi/l/email-protection" class="__cf_email__" data-cfemail="§cf§">'
        "[email&#160;protected]</a></p>",
    ),
    Form("cloudflare-link", '<p><a href="/cdn-cgi/l/email-protection#§cf_link§"><i class="icon"></i></a></p>'),
    Form(
        "cloudflare-utf8",
        '<p><span class="__cf_email__" data-cfemail="§cf_idn§">[email protected]</span></p>',
        language="de",
        mailbox="idn",
    ),
    Form("form-mailto", '<form action="mailto:§email§" method="post" enctype="text/plain"><input name="name"></form>'),
    Form(
        "form-recipient",
        '<form action="/cgi-bin/formmail.pl" method="post"><input type="hidden" name="recipient" value="§email§">'
        '<input type="email" name="email" placeholder="jane@doe.com"><textarea name="text"></textarea></form>',
        rejects=("jane@doe.com",),
    ),
    Form(
        "vcard-link",
        '<p><a download="card.vcf" href="data:text/vcard;charset=utf-8,BEGIN%3AVCARD%0AVERSION%3A3.0%0A'
        "FN%3A§name_percent§%0A"
        'EMAIL%3BTYPE%3DWORK%3A§local§%40§domain§%0AEND%3AVCARD">Card</a></p>',
    ),
)

MARKUP_FORMS = (
    Form(
        "json-ld",
        "<p>Come and see us.</p>",
        head=_json_ld('"@type": "LocalBusiness", "name": "§name§", "email": "§email§"'),
    ),
    Form(
        "json-ld-contactpoint",
        "<p>We answer on weekdays.</p>",
        head=_json_ld(
            '"@type": "Organization", "name": "§name§", "contactPoint": [{"@type": "ContactPoint", '
            '"contactType": "customer service", "email": "§email§"}, {"@type": "ContactPoint", '
            '"contactType": "sales", "email": "mailto:§second§"}]'
        ),
        shows=("email", "second"),
    ),
    Form(
        "json-ld-graph",
        "<p>About us</p>",
        head=_json_ld('"@graph": [{"@type": "WebSite"}, {"@type": "LocalBusiness", "email": "mailto:§email§"}]'),
    ),
    Form(
        "json-ld-broken",
        "<p>About us</p>",
        head='<script type="application/ld+json">\n{"@context": "https://schema.org",\n "@type": "LocalBusiness",\n'
        ' "email": "§email§",\n}\n</script>',
    ),
    Form(
        "microdata",
        '<div itemscope itemtype="https://schema.org/LocalBusiness"><span itemprop="name">§name§</span>'
        '<span itemprop="email">§email§</span></div>',
    ),
    Form(
        "microdata-meta",
        '<div itemscope itemtype="https://schema.org/LocalBusiness"><span itemprop="name">§name§</span>'
        '<meta itemprop="email" content="§email§"></div>',
    ),
    Form(
        "rdfa",
        '<div vocab="https://schema.org/" typeof="LocalBusiness"><span property="name">§name§</span> '
        '<a property="email" href="mailto:§email§">Mail</a>'
        ' <span property="schema:email" content="§second§"></span></div>',
        shows=("email", "second"),
    ),
    Form(
        "meta-tag",
        "<p>Welcome</p>",
        head='<meta name="reply-to" content="§email§"><meta property="business:contact_data:email" content="§email§">',
    ),
    Form(
        "hcard",
        '<div class="vcard"><span class="fn org">§name§</span><a class="email" href="mailto:§email§">Mail</a></div>',
    ),
    Form(
        "srcdoc",
        '<iframe srcdoc="&lt;p&gt;&lt;a href=&quot;mailto:§email§&quot;&gt;Mail&lt;/a&gt;&lt;/p&gt;"></iframe>',
    ),
    Form("data-parts", '<p><a href="#" class="m" data-user="§local§" data-domain="§domain§">Mail</a></p>'),
    Form(
        "data-parts-three", '<p><span class="m" data-name="§local§" data-domain="§stem§" data-tld="§tld§"></span></p>'
    ),
    Form("data-email", '<p><button data-email="§email§">Show the address</button></p>'),
    Form(
        "data-base64",
        '<p><a href="#" data-contact="§link_b64§">Mail</a> <span data-x="§second_b64§"></span></p>',
        shows=("email", "second"),
    ),
    Form("data-rot13", '<p><span data-mail-rot="§rot13§"></span></p>'),
    Form("data-reversed", '<p><span data-email="§reversed§"></span></p>'),
    Form(
        "data-json",
        '<div data-react-props="{&quot;phone&quot;:null,&quot;email&quot;:&quot;§local§\\u0040§domain§&quot;}"></div>',
    ),
    Form("eeb-attribute", '<p><a href="javascript:;" data-enc-email="§rot13_spoken§" class="mailto-link">Mail</a></p>'),
    Form(
        "joomla-hidden-mail",
        '<p><joomla-hidden-mail is-link="1" is-email="1" first="§local_b64§" last="§domain_b64§" text="§b64§" base="">'
        "This address is being protected from spambots.</joomla-hidden-mail></p>",
    ),
    Form("typo3-token", '<p><a href="#" data-mailto-token="§typo3_token§" data-mailto-vector="3">Mail</a></p>'),
)
