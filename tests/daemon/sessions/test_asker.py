"""A caller inside the daemon."""

from waybread_daemon.sessions.asker import Asker
from waybread_protocol.messages import Done


async def test_the_first_answer_counts_and_any_fits() -> None:
    asker = Asker()
    assert asker.fits("x" * 100_000_000)
    asker.answer(Done(re=1, seq=7))
    asker.answer(Done(re=1, seq=8))
    assert await asker.answered == Done(re=1, seq=7)
