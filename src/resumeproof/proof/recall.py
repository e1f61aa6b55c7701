"""What equal images came to, so that each is resumed once."""

from __future__ import annotations

from resumeproof.proof.oracle import Seen


class Recall:
    """The resumes of one share of the crash points.

    They are forgotten with their share: which worker got it must not show in what is resumed.
    """

    def __init__(self) -> None:
        self._share: int | None = None
        self._resumed: dict[str, tuple[int, Seen]] = {}

    def enter(self, share: int) -> None:
        """Begin or go on with a share."""
        if share != self._share:
            self._share = share
            self._resumed.clear()

    def keep(self, digest: str, deaths: int, seen: Seen) -> None:
        """Remember what an image came to that so many deaths had left."""
        self._resumed[digest] = deaths, seen

    def find(self, digest: str, deaths: int) -> Seen | None:
        """What an equal image came to, if as few deaths had left it.

        After more of them its resumes were not killed as often as this one's are to be.
        """
        earlier_deaths, seen = self._resumed.get(digest, (0, None))
        return seen if earlier_deaths <= deaths else None
