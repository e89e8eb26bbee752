"""The words in which a failure is told to the person who reads it. Pure.

A message names the provider as people know it, says what may be done if anything may, and never
shows a status, an id or the provider's own text, which is the detail.
"""

from dataclasses import dataclass

from actors.law.parts.deltas import FailureKind, ProviderFailure, ProviderRefusal
from actors.law.parts.vendors import display_name


@dataclass(frozen=True, slots=True)
class FailureMessages:
    """The messages of one failure."""

    ended: str  # the chat stops with it
    retrying: str  # shown while it is tried again


def subject(provider: str | None) -> str:
    """Return the provider as people know it, to begin a sentence with."""
    return display_name(provider, otherwise="the AI provider")


def failure_messages(
    kind: FailureKind, provider: str | None, *, retryable: bool, status: int | None
) -> FailureMessages:
    text = _both(kind, subject(provider), retryable=retryable, status=status)
    return FailureMessages(_capital(text.ended), _capital(text.retrying))


def failure(
    kind: FailureKind,
    provider: str | None,
    *,
    retryable: bool = False,
    status: int | None = None,
    message: str | None = None,
    detail: str | None = None,
    retry_after_seconds: float = 0.0,
    too_long: bool = False,
) -> ProviderFailure:
    """Make a failure in our own words, or with one `message` for both places."""
    text = failure_messages(kind, provider, retryable=retryable, status=status)
    return ProviderFailure(
        kind,
        message or text.ended,
        retryable,
        message or text.retrying,
        provider,
        status,
        retry_after_seconds,
        detail,
        too_long,
    )


_IN_OTHER_WORDS = "Say it in other words, or choose another model."


def withheld_answer(provider: str | None, refusal: ProviderRefusal | None) -> ProviderFailure:
    """Return the failure of a provider that refused to show its answer."""
    category = f" ({refusal.category})" if refusal and refusal.category else ""
    who = subject(provider)
    message = f"{who} withheld the reply for policy reasons{category}. {_IN_OTHER_WORDS}"
    return failure(
        FailureKind.CONTENT_FILTER,
        provider,
        message=_capital(message),
        detail=refusal.explanation if refusal else None,
    )


def withheld_rest(provider: str | None, refusal: ProviderRefusal | None) -> str:
    """Return the notice behind an answer whose provider refused to show the rest of it."""
    category = f" ({refusal.category})" if refusal and refusal.category else ""
    who = subject(provider)
    message = f"{who} withheld the rest of the reply for policy reasons{category}."
    said = refusal.explanation.strip() if refusal and refusal.explanation else ""
    own = f" Its own words: {said}" if said else ""
    return _capital(f"{message} {_IN_OTHER_WORDS}{own}")


# Reasons by which an answer ends without a word, and what can be done about each.
_REMEDIES = {
    "LANGUAGE": "The model does not speak a language of the conversation: choose another model.",
    "NO_IMAGE": "It was asked for an image and made none: say what the image shall show.",
}


def unsaid_answer(
    provider: str | None, *, out_of_tokens: bool, refusal: ProviderRefusal | None
) -> ProviderFailure:
    """Return the failure of an answer in which nothing was said, although it ended oddly.

    `out_of_tokens`: it ended at the limit of its length, so all of it was spent on thinking.
    """
    who = subject(provider)
    if out_of_tokens:
        message = (
            f"{who} spent all the tokens of its answer on thinking, and said nothing. Raise the"
            " largest output of this model, ask for less effort, or choose another model."
        )
        return failure(FailureKind.CONFIG, provider, message=_capital(message))
    reason = refusal.category if refusal and refusal.category else ""
    remedy = _REMEDIES.get(reason, _IN_OTHER_WORDS)
    message = f"{who} ended its answer without a word{f' ({reason})' if reason else ''}. {remedy}"
    return failure(
        FailureKind.GENERIC,
        provider,
        message=_capital(message),
        detail=refusal.explanation if refusal else None,
    )


def unknown_model(provider: str | None) -> str:
    who = _capital(subject(provider))
    return f"{who} does not know this model. Look at its name, and at the provider's base URL."


def unreadable_call(provider: str | None) -> str:
    return f"{_capital(subject(provider))} could not read the call of a tool that its model made."


def refused_request(provider: str | None) -> str:
    return f"{_capital(subject(provider))} did not accept the request; its own words say why."


def silent_stream(provider: str | None) -> ProviderFailure:
    """Return the failure of a stream that sent nothing for as long as we are willing to wait."""
    return failure(FailureKind.STREAM_SILENCE_TIMEOUT, provider, retryable=True)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _both(kind: FailureKind, who: str, *, retryable: bool, status: int | None) -> FailureMessages:
    match kind:
        case FailureKind.OVERLOADED:
            return _same(f"{who} is overloaded for now.")
        case FailureKind.RATE_LIMIT:
            return _same(f"{who} is throttling requests.")
        case FailureKind.TIMEOUT:
            unreachable = f"{who} cannot be reached at the moment."
            if retryable or status is not None:
                return _same(unreachable)
            return FailureMessages("the request ran out of time before it finished.", unreachable)
        case FailureKind.STREAM_SILENCE_TIMEOUT:
            return _same(f"no data came from {who} in time.")
        case FailureKind.USAGE_LIMIT:
            return FailureMessages(
                "the usage allowance is used up. Ask an administrator, or look at budgets and"
                " quotas.",
                _unforeseen(who),
            )
        case FailureKind.AUTH:
            refused = f"{who} refused the credentials"
            return FailureMessages(f"{refused}. Look at the API key and its rights.", f"{refused}.")
        case FailureKind.CONFIG:
            refused = f"{who} did not accept the model setup"
            return FailureMessages(
                f"{refused}. Review the model and provider settings.", f"{refused}."
            )
        case FailureKind.MISSING_KEY:
            gone = "the API key that this chat relied on no longer exists"
            return FailureMessages(f"{gone}. Send the message again.", f"{gone}.")
        case FailureKind.PROVIDER_DISABLED:
            return FailureMessages(
                f"{who} was switched off. Ask an administrator.",
                f"{who} was switched off by an administrator.",
            )
        case FailureKind.CONTENT_FILTER:
            return _same(f"{who} withheld the reply for policy reasons.")
        case FailureKind.GENERIC:
            if retryable or status is not None:
                return _same(_unforeseen(who))
            return FailureMessages("the request failed for an unknown reason.", _unforeseen(who))


def _same(text: str) -> FailureMessages:
    return FailureMessages(text, text)


def _unforeseen(who: str) -> str:
    return f"{who} answered with an unforeseen error."
