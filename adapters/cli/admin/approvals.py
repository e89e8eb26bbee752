"""`promptcorner approvals`: rules about calls of tools, and what they say of a command."""

import argparse
from collections.abc import Iterable, Sequence

from adapters.cli.admin.connection import (
    DaemonClient,
    add_verb,
    connect,
    path_of,
    print_line,
    print_table,
)
from adapters.cli.admin.users import minute_of
from adapters.cli.command_line import describe
from adapters.settings.refusals import CannotStart
from adapters.tools.approvals.rule_routes import DEPLOYMENTS, OWN
from adapters.tools.approvals.schemas import (
    ConsentRule,
    ConsentRules,
    ConsentTrial,
    OwnConsentRules,
    PutConsentRuleRequest,
    TryConsentRequest,
)

HEAD = ("rule", "of", "changed by", "changed")
VERDICT_HEAD = ("part", "verdict", "because of")
VERDICTS = {"allow": "runs", "ask": "is asked about", "deny": "is denied"}

DESCRIPTION = """\
A call of a tool may need a person's consent. Rules say which calls run, which are denied, and about
which a person is asked.

  promptcorner approvals list
  promptcorner approvals test 'git status && rm -rf build'     what would become of it, and why
  promptcorner approvals set 'execute(git *)=allow'            for your own chats
  promptcorner approvals set --deployment 'mcp:*=ask'          for all chats; for admins
  promptcorner approvals remove 'execute(git *)'
"""
SET = """\
Write a rule, in the place of an older one about the same calls.

  TOOL=POLICY              all calls of a tool; * stands for anything in its name
  execute(COMMAND)=POLICY  commands; * at the end stands for any further words
  write_file(PATH)=POLICY  files; ** stands for any folders
  TOOL(NAME=TEXT)=POLICY   calls in which an argument has this text

POLICY is allow, ask or deny. Of the rules that fit, deny wins.

  promptcorner approvals set 'execute(npm test *)=allow'
  promptcorner approvals set 'write_file(.github/**)=deny'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    describe(parser, DESCRIPTION)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    example = "  promptcorner approvals {}\n".format
    add_verb(
        verbs,
        "list",
        list_rules,
        help="your rules, and for admins those of the deployment",
        description=example("list"),
    )
    testing = add_verb(
        verbs,
        "test",
        test,
        help="what would become of a command, without running it",
        description=example("test 'git push --force'") + example("test --policy ask 'ls | wc'"),
    )
    testing.add_argument("command", metavar="COMMAND", help="a command, as one word")
    testing.add_argument(
        "--policy", choices=tuple(VERDICTS), help="of the chat; the deployment's if left out"
    )
    setting = add_verb(verbs, "set", set_rule, help="write a rule", description=SET)
    setting.add_argument("rule", metavar="RULE", help="TOOL=POLICY or TOOL(…)=POLICY")
    removing = add_verb(
        verbs,
        "remove",
        remove,
        help="remove a rule",
        description=example("remove 'execute(git *)'"),
    )
    removing.add_argument("rule", metavar="RULE", help="a rule as it is listed, or its tool")
    for verb in (setting, removing):
        verb.add_argument(
            "--deployment", action="store_true", help="a rule for all chats, for admins"
        )


def list_rules(options: argparse.Namespace) -> int:
    with connect(options) as daemon:
        deployments = daemon.get_if_allowed(DEPLOYMENTS, ConsentRules)
        own, _ = daemon.get(OWN, OwnConsentRules)
    rows = [] if deployments is None else [*_rows(deployments.rules, "deployment")]
    answer = {"deployment": deployments, "user": own.rules}
    return print_table(options, answer, HEAD, [*rows, *_rows(own.rules, "you")])


def test(options: argparse.Namespace) -> int:
    asked = TryConsentRequest(command=options.command, policy=options.policy)
    with connect(options) as daemon:
        trial, answer = daemon.post(f"{DEPLOYMENTS}/test", asked, ConsentTrial)
    rows = [
        (
            part.part or "the whole call",
            VERDICTS.get(part.decision, part.decision),
            part.unread or (f"{part.rule} ({part.place})" if part.rule else "the chat's policy"),
        )
        for part in trial.parts
    ]
    if options.json:
        return print_table(options, answer, VERDICT_HEAD, rows)
    print_table(options, answer, VERDICT_HEAD, rows)
    lines = [f"\nThe command {VERDICTS.get(trial.decision, trial.decision)}."]
    if trial.suggested_rules:
        lines.append("These rules would allow it:")
        lines += [f"  {rule}=allow" for rule in trial.suggested_rules]
    return print_line(options, answer, "\n".join(lines))


def set_rule(options: argparse.Namespace) -> int:
    tool, equals, policy = options.rule.rpartition("=")
    if not equals or ")" in policy:
        raise CannotStart(options.rule, f"has no policy; write {options.rule}=allow")
    asked = PutConsentRuleRequest(tool=tool.strip(), policy=policy.strip())
    with connect(options) as daemon:
        if options.deployment:
            _, answer = daemon.put(f"{DEPLOYMENTS}/rules", asked, ConsentRules)
        else:
            _, answer = daemon.put(OWN, asked, OwnConsentRules)
    return print_line(options, answer, f"{options.rule} holds from now on")


def remove(options: argparse.Namespace) -> int:
    with connect(options) as daemon:
        found = _found(options, _stored(options, daemon))
        path = f"{DEPLOYMENTS}/rules" if options.deployment else OWN
        daemon.delete(f"{path}/{path_of(str(found.id))}")
    return print_line(options, {}, f"{found.tool}={found.policy} is removed")


def _stored(options: argparse.Namespace, daemon: DaemonClient) -> Sequence[ConsentRule]:
    if options.deployment:
        return daemon.get(DEPLOYMENTS, ConsentRules)[0].rules
    return daemon.get(OWN, OwnConsentRules)[0].rules


def _found(options: argparse.Namespace, rules: Sequence[ConsentRule]) -> ConsentRule:
    for rule in rules:
        if options.rule in (rule.tool, f"{rule.tool}={rule.policy}"):
            if rule.id is None:
                where = "stands in the daemon's configuration; change approval_rules there"
                raise CannotStart(options.rule, where)
            return rule
    raise CannotStart(options.rule, "is no rule; see promptcorner approvals list")


def _rows(rules: Iterable[ConsentRule], place: str) -> Iterable[tuple[str, ...]]:
    for rule in rules:
        changed = "-" if rule.changed_at is None else minute_of(rule.changed_at)
        of = f"{place}, in its configuration" if rule.id is None else place
        yield f"{rule.tool}={rule.policy}", of, rule.changed_by or "-", changed
