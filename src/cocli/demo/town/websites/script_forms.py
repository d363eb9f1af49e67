"""The forms that are code: an address put together by a script, or kept in the state that a framework leaves."""

from __future__ import annotations

from cocli.demo.town.websites.forms import LINK_FORMS, MARKUP_FORMS, TEXT_FORMS, Form


def _written(expression: str) -> str:
    return f"<p>E-mail: <script>document.write({expression});</script></p>"


_ROT13_CODE = (
    "function (c) { return String.fromCharCode((c <= 'Z' ? 90 : 122) >= (c = c.charCodeAt(0) + 13) ? c : c - 26); }"
)
_ROT13_FUNCTION = (
    "function rot13(s){return s.replace(/[a-z]/gi,"
    'c=>String.fromCharCode(c.charCodeAt(0)+(c.toLowerCase()<"n"?13:-13)))}'
)
_JOOMLA = """<p><span id="cloak4711">This address is protected from spambots.</span><script type="text/javascript">
 document.getElementById('cloak4711').innerHTML = '';
 var prefix = '&#109;a' + 'i&#108;' + '&#116;o';
 var path = 'hr' + 'ef' + '=';
 var addy4711 = '§joomla_local§' + '&#64;';
 addy4711 = addy4711 + '§joomla_stem§' + '&#46;' + '§joomla_tld§';
 var addy_text4711 = '§joomla_local§' + '&#64;' + '§joomla_stem§' + '&#46;' + '§joomla_tld§';
 document.getElementById('cloak4711').innerHTML +=
  '<a ' + path + '\\'' + prefix + ':' + addy4711 + '\\'>'+addy_text4711+'<\\/a>';
 </script></p>"""
_VARIABLES = """<p id="mail"></p>
<script>
var who = "§local§";
var where = "§domain§";
var address = who + "@" + where;
document.getElementById("mail").innerHTML = "<a href='mailto:" + address + "'>" + address + "</a>";
</script>"""
_IIFE = """<p><a id="mail">Mail</a></p>
<script>
(function () {
  var u = "§local§", d = "§stem§";
  // nothing for collectors
  document.querySelector("#mail").href = "mailto:" + u + "@" + d + "." + "§tld§";
})();
</script>"""
_WIX = (
    '<div id="SITE_CONTAINER"></div>\n<script type="application/json" id="wix-warmup-data">'
    '{"platform":{"ssrPropsUpdates":'
    r'[{"comp-k1":{"html":"<p class=\"font_8\"><object><a href=\"mailto:§email§\">§email§</a></object></p>"}}]},'
    '"sentry":"https://605a7baede844d278b89dc95ae0a9123@sentry-next.wixpress.com/68"}</script>'
)
_FLIGHT = (
    "<div></div>\n<script>self.__next_f=self.__next_f||[];self.__next_f.push("
    r'[1,"7:[\"$\",\"footer\",null,{\"email\":\"§email§\",\"year\":2026}]\n"])</script>'
)

SCRIPT_FORMS = (
    Form("js-concat", _written("'<a href=\"mailto:' + '§local§' + '@' + '§stem§' + '.' + '§tld§' + '\">Mail</a>'")),
    Form("js-variables", _VARIABLES),
    Form("js-iife", _IIFE),
    Form(
        "js-template",
        '<p id="mail"></p>\n<script>const u = "§local§", h = "§domain§"; mail.textContent = `${u}@${h}`;</script>',
    ),
    Form("js-array-join", _written("['§local§','§domain§'].join('@')")),
    Form("js-array-reverse", _written("[§array_reversed§].reverse().join('')")),
    Form("js-fromcharcode", _written("String.fromCharCode(§codes§)")),
    Form(
        "js-fromcharcode-part",
        _written("'§local§' + String.fromCharCode(64) + '§stem§' + String.fromCharCode(46) + '§tld§'"),
    ),
    Form(
        "js-charcode-map",
        _written('[§codes§].map(function (c) { return String.fromCharCode(c); }).join("")'),
    ),
    Form("js-atob", _written("atob('§b64§')")),
    Form("js-atob-link", '<a id="post" href="#">Mail</a>\n<script>post.href = atob("§link_b64§");</script>'),
    Form("js-reverse", _written("'§reversed§'.split('').reverse().join('')")),
    Form("js-rot13", _written(f"'§rot13§'.replace(/[a-zA-Z]/g, {_ROT13_CODE})")),
    Form(
        "js-rot13-function",
        f'<p><a href="#" onclick="location.href=rot13(\'§link_rot13§\')">Mail</a></p>'
        f"<script>{_ROT13_FUNCTION}</script>",
    ),
    Form("js-octal", _written(r"'§local§\100§stem§\056§tld§'")),
    Form("js-unescape", '<script>document.write(unescape("§percent_anchor§"));</script>'),
    Form("js-eval", '<script>eval(unescape("§percent_code§"));</script>'),
    Form("js-replace", _written("'§local§[at]§domain§'.replace('[at]', '@')")),
    Form(
        "js-onclick",
        "<p><a href=\"#\" onclick=\"window.location='mai'+'lto:'+'§local§'+'@'+'§domain§'\">Mail</a></p>",
    ),
    Form("typo3-uncrypt", '<p><a href="javascript:linkTo_UnCryptMailto(%27§typo3§%27);">§local§(at)§domain§</a></p>'),
    Form("typo3-uncrypt-minus", "<p><a href=\"javascript:linkTo_UnCryptMailto('§typo3_minus§');\">Mail</a></p>"),
    Form("joomla-addy", _JOOMLA),
    Form("eeb-script", '<p><span id="eeb-1"></span><script>§eeb§</script></p>'),
    Form("cryptx", "<p><a href=\"javascript:DeCryptX('§cryptx§')\">Mail</a></p>"),
    Form(
        "state-u0040",
        '<p></p><script>window.__STATE__={"contact":{"mail":"§local§\\u0040§domain§","tel":null}};</script>',
    ),
    Form(
        "state-glued",
        '<div id="root"></div>\n<script>window.data={"html":"\\u003cp\\u003e§email§\\u003c/p\\u003e"};</script>',
    ),
    Form(
        "state-x40",
        '<p id="m"></p>\n<script>document.getElementById("m").textContent="§local§\\x40§domain§";</script>',
    ),
    Form(
        "state-percent",
        '<p id="m"></p>\n<script>var contact = decodeURIComponent("§local§%40§domain§"); show(contact);</script>',
    ),
    Form(
        "next-data",
        '<div id="__next"></div>\n<script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{"settings":'
        '{"email":"§email§","image":"/hero@2x.png"}}},"page":"/","buildId":"k3J9s"}</script>',
        rejects=("hero@2x.png",),
    ),
    Form("next-flight", _FLIGHT),
    Form(
        "nuxt",
        '<div id="__nuxt"></div>\n<script>window.__NUXT__=(function(a,b){return {layout:"default",data:[{contact:'
        '{mail:a,place:b}}],error:null}}("§email§","Town"));</script>',
    ),
    Form("wix", _WIX, rejects=("605a7baede844d278b89dc95ae0a9123@sentry-next.wixpress.com",)),
    Form(
        "squarespace",
        '<div></div>\n<script>Static.SQUARESPACE_CONTEXT = {"website":{"siteTitle":"§name§",'
        '"contactEmail":"§email§"},"showCart":false};</script>',
    ),
)

FORMS: tuple[Form, ...] = (*TEXT_FORMS, *LINK_FORMS, *MARKUP_FORMS, *SCRIPT_FORMS)
"""Every form in which an address can be found."""


def form_named(name: str) -> Form:
    return next(form for form in FORMS if form.name == name)
