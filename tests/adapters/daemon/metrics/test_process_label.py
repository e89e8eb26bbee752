"""Figures of one process among several: each sample says which."""

from prometheus_client.parser import text_string_to_metric_families

from adapters.daemon.metrics.figures import MetricsRegistry
from adapters.daemon.metrics.flattened import with_process_label

PAGE = b"""# HELP up it is
# TYPE up gauge
up 1.0
seconds_bucket{le="0.5",path="/x{y}"} 3.0
nothing{} 2.0
"""


def test_every_sample_says_of_which_process_it_is():
    assert b"""# HELP up it is
# TYPE up gauge
up{process="2"} 1.0
seconds_bucket{process="2",le="0.5",path="/x{y}"} 3.0
nothing{process="2"} 2.0
""" == with_process_label(2, PAGE)


def test_the_figures_of_the_only_process_are_as_they_were():
    assert PAGE == with_process_label(None, PAGE)


def test_a_page_of_ours_can_be_read_afterwards():
    page = with_process_label(3, MetricsRegistry().exposition()).decode()

    samples = [s for family in text_string_to_metric_families(page) for s in family.samples]
    assert samples
    assert {"3"} == {sample.labels["process"] for sample in samples}
