"""A caller inside the daemon: it asks for one thing and waits for the answer."""

from __future__ import annotations

import asyncio

from waybread_protocol.limits import PAGE_BYTES
from waybread_protocol.messages import Answer


class Asker:
    """A `Caller` for one request. `answered` is done when it is answered; any answer fits."""

    page_bytes = PAGE_BYTES

    def __init__(self) -> None:
        self.answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def fits(self, text: str) -> bool:  # noqa: ARG002  # nothing is sent anywhere
        """Whether an answer with this text can be taken."""
        return True

    def answer(self, answer: Answer) -> None:
        """Takes the answer."""
        if not self.answered.done():
            self.answered.set_result(answer)
