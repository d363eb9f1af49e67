"""What a fetcher remembers of the sites that it asked, for a while: names, closed doors, encryption, robots.txt."""
