"""RFC 6298 between its bounds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.serial.retransmission import RTO_HIGHEST, RTO_LOWEST, RoundTrip


@settings(max_examples=200)
@given(st.lists(st.floats(-1, 100) | st.none(), max_size=60))
def test_the_time_out_stays_between_its_bounds(steps: list[float | None]) -> None:
    trip = RoundTrip()
    for step in steps:
        if step is None:
            trip.back_off()
        else:
            trip.sample(step)
        assert RTO_LOWEST <= trip.rto <= RTO_HIGHEST


def test_the_first_sample_and_the_second() -> None:
    trip = RoundTrip()
    trip.sample(0.2)
    assert (trip.smoothed, trip.variation) == (0.2, 0.1)
    assert abs(trip.rto - 0.6) < 1e-12
    trip.sample(0.4)
    assert trip.smoothed is not None
    assert abs(trip.smoothed - 0.225) < 1e-12
    assert abs(trip.variation - 0.125) < 1e-12
    assert abs(trip.rto - 0.725) < 1e-12


def test_a_steady_fast_line_comes_down_to_25_ms_and_backs_off_to_2_s() -> None:
    trip = RoundTrip()
    for _ in range(100):
        trip.sample(0.002)
    assert trip.rto == RTO_LOWEST
    doubled = []
    for _ in range(9):
        trip.back_off()
        doubled.append(trip.rto)
    assert doubled[:6] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6]
    assert doubled[6:] == [2.0, 2.0, 2.0]
