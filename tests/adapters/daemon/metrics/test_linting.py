"""The rules of names, each broken once."""

import shutil

import pytest

from tests.adapters.daemon.metrics.linting import faults_of, promtool_faults_of

GOOD = """\
# HELP a_requests_total Requests that came.
# TYPE a_requests_total counter
a_requests_total{path="/"} 1.0
# HELP a_size_bytes Size of it.
# TYPE a_size_bytes gauge
a_size_bytes 1.0
# HELP a_seconds Time of it.
# TYPE a_seconds histogram
a_seconds_bucket{le="1.0"} 1.0
a_seconds_bucket{le="+Inf"} 1.0
a_seconds_count 1.0
a_seconds_sum 0.5
"""

# What is wrong, the page, and whether promtool finds it as well.
BAD = {
    "it has no type": ("# HELP a_b1 It.\na_b1 1.0\n", False),
    "it has no help": ("# TYPE a_b1 gauge\na_b1 1.0\n", True),
    "its name is not in snake_case": ("# HELP a_bC It.\n# TYPE a_bC gauge\na_bC 1.0\n", True),
    "its label bC is not in snake_case": (
        '# HELP a_b1 It.\n# TYPE a_b1 gauge\na_b1{bC="1"} 1.0\n',
        True,
    ),
    "a counter ends in _total": ("# HELP a_b1 It.\n# TYPE a_b1 counter\na_b1 1.0\n", True),
    "only counters end in _total": (
        "# HELP a_b1_total It.\n# TYPE a_b1_total gauge\na_b1_total 1.0\n",
        True,
    ),
    "only histograms and summaries end in _count and _sum": (
        "# HELP a_b1_count It.\n# TYPE a_b1_count gauge\na_b1_count 1.0\n",
        True,
    ),
    "only histograms have buckets": (
        '# HELP a_b1 It.\n# TYPE a_b1 gauge\na_b1{le="1"} 1.0\n',
        True,
    ),
    "only summaries have quantiles": (
        '# HELP a_b1 It.\n# TYPE a_b1 gauge\na_b1{quantile="1"} 1.0\n',
        True,
    ),
    "its name has its type in it": (
        "# HELP a_gauge_b1 It.\n# TYPE a_gauge_b1 gauge\na_gauge_b1 1.0\n",
        True,
    ),
    "it is in seconds or bytes, and says so": (
        "# HELP a_milliseconds It.\n# TYPE a_milliseconds gauge\na_milliseconds 1.0\n",
        True,
    ),
    "its unit is written out": ("# HELP a_ms It.\n# TYPE a_ms gauge\na_ms 1.0\n", True),
    "its unit stands last": (
        "# HELP a_bytes_max It.\n# TYPE a_bytes_max gauge\na_bytes_max 1.0\n",
        False,
    ),
}


def test_a_good_page_has_no_faults():
    assert [] == faults_of(GOOD)
    assert "" == promtool_faults_of(GOOD)


@pytest.mark.parametrize("fault", BAD)
def test_a_fault_is_found(fault):
    page, _ = BAD[fault]

    [found] = faults_of(page)

    assert found.endswith(f": {fault}")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize("fault", [name for name, (_, is_known) in BAD.items() if is_known])
def test_promtool_finds_it_as_well(fault):
    assert promtool_faults_of(BAD[fault][0])
