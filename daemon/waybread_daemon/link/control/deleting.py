"""Deleting by the owner's hand, as a device's own `delete` does it: in each session's order, and followers hear of it."""

from __future__ import annotations

from waybread_daemon.sessions.asker import Asker
from waybread_daemon.sessions.desk import Desk
from waybread_daemon.store.contract import Device
from waybread_protocol.errors import ErrorCode, RequestError
from waybread_protocol.messages import Delete, Done, Error


async def delete_session(desk: Desk, device: Device, session: str) -> bool:
    """Deletes a session; False where it was deleted before. Durable when it returns. Raises `RequestError`."""
    asker = Asker()
    desk.submit(desk.live.device(device.number), Delete(id=1, session=session), b"", asker)
    match await asker.answered:
        case Done(repeated=repeated):
            return not repeated
        case Error(code=code, message=message):
            raise RequestError(ErrorCode(code), message)
        case other:
            raise TypeError(f"{type(other).__name__} is no answer to `delete`")


async def delete_device(desk: Desk, device: Device) -> int:
    """Deletes a device that has no links: its tokens, its sessions, itself. Tells how many sessions it had.

    Durable when it returns. Raises `StoreFault`.
    """
    return await desk.delete_device(desk.live.device(device.number))
