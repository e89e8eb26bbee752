// Errors of every kind, and a pause before the next attempt.

const KINDS = ["overloaded", "timeout", "stream_silence_timeout", "rate_limit", "auth", "missing_key", "provider_disabled", "config", "usage_limit", "content_filter", "hook_denied", "generic"];

export const ERRORS = [
  ...KINDS.map((kind) => ({ kind, message: "Anthropic answered with an unforeseen error. It was tried 25 times.", detail: `{"type":"error","error":{"type":"${kind}_error"}}`, provider: "anthropic", retryable: false, status_code: 529 })),
  { kind: "config", message: "The conversation is too long for the model. Have it summarised, choose a model with a larger window.", provider: "openai", retryable: false, status_code: 400 },
];

export const RETRY = { attempt: 3, delay_ms: 12_000, error: "Anthropic is overloaded for now.", kind: "overloaded", provider: "anthropic", status_code: 529, retrying_at: new Date(Date.now() + 12_000).toISOString() };
