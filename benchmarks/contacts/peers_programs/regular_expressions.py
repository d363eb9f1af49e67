"""The expressions over the HTML as it came."""

from benchmarks.contacts.peers_programs.lines import EMAIL, PHONE, SOCIAL, found, serve

if __name__ == "__main__":
    serve(lambda html, _: found(EMAIL.findall(html), PHONE.findall(html), SOCIAL.findall(html)))
