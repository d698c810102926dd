"""Orders Assay's headers in chains, so that one run of the compiler checks several headers.

    for chain in chains(includes):  # {"a.h": {"b.h"}, "b.h": set(), "c.h": set()}
        ...                         # ("b.h", "a.h") and ("c.h",)

Each header of a chain includes the header before it, directly or through other headers. So a header
sees, when its own text is parsed, exactly the headers that it includes itself, as if it were
compiled alone. The chains contain each header once, and there are as few of them as possible."""

from __future__ import annotations


def closures(includes: dict[str, set[str]]) -> dict[str, set[str]]:
    """Maps each header to the headers that it includes, directly or through other headers."""
    found: dict[str, set[str]] = {}

    def closure(header: str) -> set[str]:
        if header not in found:
            found[header] = set()  # ends a circle of includes
            found[header] = {
                name for direct in includes[header] for name in {direct} | closure(direct)
            }
        return found[header]

    for header in includes:
        closure(header)
    return found


def chains(includes: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Returns the chains. `includes` maps each header to the headers that it includes directly."""
    closed = closures(includes)
    circle = sorted(name for name in includes if name in closed[name])
    assert not circle, f"these headers include themselves through others: {circle}"
    by_size = sorted(includes, key=lambda header: (len(closed[header]), header))
    users = {name: [user for user in by_size if name in closed[user]] for name in includes}
    # A maximum matching of headers with their followers gives the fewest chains (Dilworth).
    follower: dict[str, str] = {}
    followed: dict[str, str] = {}

    def finds_follower(header: str, tried: set[str]) -> bool:
        for user in users[header]:
            if user in tried:
                continue
            tried.add(user)
            if user not in followed or finds_follower(followed[user], tried):
                follower[header], followed[user] = user, header
                return True
        return False

    for header in by_size:
        finds_follower(header, set())
    found = []
    for first in by_size:
        if first in followed:
            continue
        chain = [first]
        while chain[-1] in follower:
            chain.append(follower[chain[-1]])
        found.append(tuple(chain))
    return sorted(found, key=lambda chain: -len(closed[chain[-1]]))
