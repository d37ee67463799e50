"""The client: a link to a Waybread daemon that holds, and sessions as a harness uses them.

async with Link("ws://localhost:8787", token) as link:
    session = await link.open("my-session", "agent")
    inserted = await session.read("src/app.ts", "/home/me/src/app.ts", content)
    # `inserted.text` is what the model gets.
"""

from waybread_client.backoff import Backoff
from waybread_client.carried import carried, head_id
from waybread_client.content import Change
from waybread_client.errors import AnswerError, Denied, LinkClosed, LinkEnded, LinkError, Refused
from waybread_client.follow import Follow, Reset
from waybread_client.keys import Keys
from waybread_client.link import Link
from waybread_client.session import Session

__all__ = [
    "AnswerError",
    "Backoff",
    "Change",
    "Denied",
    "Follow",
    "Keys",
    "Link",
    "LinkClosed",
    "LinkEnded",
    "LinkError",
    "Refused",
    "Reset",
    "Session",
    "carried",
    "head_id",
]
