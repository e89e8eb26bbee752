"""What `promtool check metrics` finds in a page of metrics, and a little more, in Python.

promtool says nothing of metrics without a type, and takes any words for a help.
"""

import re
import shutil
import subprocess

from prometheus_client.parser import text_string_to_metric_families

BASE_UNITS = {"bytes", "seconds", "ratio"}
OTHER_UNITS = re.compile(
    r"_(milliseconds|microseconds|nanoseconds|minutes|hours|days|weeks|bits|"
    r"(kilo|mega|giga|kibi|mebi|gibi)(bytes|bits)|percent)(_|$)"
)
ABBREVIATED = re.compile(r"_(s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)(_|$)")
TYPES = re.compile(r"_(counter|gauge|histogram|summary|untyped)(_|$)")
SNAKE_CASE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def faults_of(page):
    """Each fault of a page in the format of Prometheus, as a sentence."""
    families = list(text_string_to_metric_families(page))
    faults = [f"{family.name}: {fault}" for family in families for fault in _faults(family)]
    # The parser adds the `_total` that is missing.
    counters = re.findall(r"^# TYPE (\S+) counter$", page, re.M)
    faults += [f"{n}: a counter ends in _total" for n in counters if not n.endswith("_total")]
    doubled = {f.name for f in families if [g.name for g in families].count(f.name) > 1}
    return faults + [f"{name}: it is there more than once" for name in sorted(doubled)]


def promtool_faults_of(page):
    """What promtool says of a page; nothing where it is not installed."""
    promtool = shutil.which("promtool")
    if promtool is None:
        return ""
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=page.encode(), capture_output=True, check=False
    )
    return (checked.stdout + checked.stderr).decode()


def _faults(family):
    name, samples = family.name, family.samples
    labels = {label for sample in samples for label in sample.labels}
    if family.type in ("unknown", "untyped"):
        yield "it has no type"
    if not family.documentation.strip():
        yield "it has no help"
    if not SNAKE_CASE.fullmatch(name):
        yield "its name is not in snake_case"
    for label in sorted(labels):
        if not SNAKE_CASE.fullmatch(label):
            yield f"its label {label} is not in snake_case"
    if family.type != "counter" and name.endswith("_total"):
        yield "only counters end in _total"
    if family.type not in ("histogram", "summary") and name.endswith(("_count", "_sum")):
        yield "only histograms and summaries end in _count and _sum"
    if family.type != "histogram" and (name.endswith("_bucket") or "le" in labels):
        yield "only histograms have buckets"
    if family.type != "summary" and "quantile" in labels:
        yield "only summaries have quantiles"
    if TYPES.search(name):
        yield "its name has its type in it"
    if OTHER_UNITS.search(name):
        yield "it is in seconds or bytes, and says so"
    if ABBREVIATED.search(name):
        yield "its unit is written out"
    if any(unit in name.split("_")[:-1] for unit in BASE_UNITS):
        yield "its unit stands last"


def sentences(page, prefix):
    """Helps of a page's own metrics that are no sentences."""
    for family in text_string_to_metric_families(page):
        says = family.documentation
        if family.name.startswith(prefix) and not re.fullmatch(r"[A-Z0-9][^\n]{9,}\.", says):
            yield f"{family.name}: {says!r}"
