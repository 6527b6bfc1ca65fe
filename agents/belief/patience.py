"""How long a module's resampler may take: a share of the time the decision has left."""

import signal
from collections.abc import Callable

from agents.belief.module import HungError
from tools.guest.faults import SoftTimeoutError

SHARE = 4  # a call may take the time left over this
LONG = 1e6  # seconds; only the time that is left of an alarm is wanted


def patient(call: Callable[[], object]) -> object:
    """Make a call of the module's code within a share of the time left before the alarm.

    A worker rings at the deadline of every request. The alarm is set earlier for the call and set
    back afterwards; where none is set the call may take for ever.

    Raises:
        HungError: If the call did not return in time.
    """
    left, _ = signal.setitimer(signal.ITIMER_REAL, LONG)
    unused = share = left / SHARE
    try:
        signal.setitimer(signal.ITIMER_REAL, share)
        return call()
    except SoftTimeoutError as error:
        raise HungError(f"the call did not return within {share:.3g} s") from error
    finally:
        unused, _ = signal.setitimer(signal.ITIMER_REAL, 0)
        if left:
            signal.setitimer(signal.ITIMER_REAL, left - share + unused)
