"""The vendors of models: one record for each, with all that tells one from another. Pure data.

A vendor that speaks one of the wires below is added by its record and its place in `VENDORS`:
settings, commands, API, prompts and the words of failures follow from it, and no other module asks
for a vendor by its name. A wire of its own needs a `Wire` here, a folder in
`adapters/models/providers` and a line in `adapters/models/connecting.py`.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal


class Wire(Enum):
    """A protocol that models are spoken to in; `adapters.models.connecting` has who speaks it."""

    MESSAGES = "Anthropic Messages"
    BEDROCK = "Anthropic Messages in the event stream of AWS"
    CONVERSE = "Converse, of all other models at AWS"
    GEMINI = "Gemini"
    CHAT = "OpenAI Chat Completions"
    RESPONSES = "OpenAI Responses"
    PLUGIN = "none: the code of a plugin is the provider"


class Login(Enum):
    """The way in which a vendor is shown who asks."""

    KEY = "key"
    OPTIONAL_KEY = "optional key"  # a server of one's own may want none
    AWS = "AWS"  # credentials of the machine, or keys in the settings of the provider
    NONE = "none"


@dataclass(frozen=True, slots=True)
class PromptRules:
    """The demands of a wire on a prompt, which the prompt is made to meet before it is sent."""

    # The media types that are taken as files, by how they begin. Other texts are put into the
    # message, other files are left out.
    files: tuple[str, ...] = ()
    image_bytes_max: int | None = None  # an image of that size or more is refused before it is sent
    # The rules of Anthropic's API: roles alternate, and a call of one of its own tools is replayed
    # together with its result or not at all.
    is_anthropic: bool = False

    def takes(self, media_type: str) -> bool:
        """Return whether a file of this media type can be sent as a file."""
        return bool(self.files) and media_type.startswith(self.files)


NO_FILES = PromptRules()


@dataclass(frozen=True, slots=True)
class Dialect:
    """The ways in which a server's Chat Completions differ from those of the others."""

    # The field in which a model's earlier thoughts are sent back to it; None: they are not.
    thoughts: Literal["reasoning_content", "reasoning_details"] | None = None
    effort: Literal["reasoning_effort", "reasoning"] = "reasoning_effort"
    # An answer of a schema is asked for as a call of a tool: not every server knows
    # `response_format`, but every one that has tools can be made to call one.
    answers_by_tool: bool = False
    takes_top_k: bool = True  # OpenAI's own does not
    takes_files: bool = True  # images and papers; text is always taken
    counts_cost: bool = False  # wants `usage.include` to count all of its tokens
    marks_cache: bool = False  # passes cache marks on to Anthropic's models
    gemini: bool = False  # Gemini behind Google's own imitation of this interface
    mistral: bool = False  # Mistral's own servers, whatever a model is called there


_PLAIN_DIALECT = Dialect()


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment, and so a setting, that sets a vendor up."""

    names: tuple[str, ...]  # the first that is set counts
    help: str
    is_secret: bool = False
    placeholder: str = "URL"  # of a value that is no secret
    default: str = ""  # as people are told of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """Everything that is to be known of a vendor, apart from the protocol that it speaks."""

    type: str  # in the API, in commands, in metrics and in failures
    name: str  # for people
    wire: Wire | None  # None: may be set up, but cannot be asked
    # OpenAI has two interfaces. "by config": a model's configuration may say which, and its name
    # does where it does not; "by model": its name alone does; None: this vendor has one.
    speaks_responses: Literal["by config", "by model"] | None = None
    base_url: str | None = None  # None: has to be configured, or follows from the region of AWS
    login: Login = Login.KEY
    key_header: str = "Authorization"  # there the key stands behind "Bearer", elsewhere alone
    key: Variable | None = None
    base_url_variable: Variable | None = None
    more_variables: tuple[Variable, ...] = ()
    default_model: str = ""  # of chats that name none, where no setting names one either
    rules: PromptRules = NO_FILES
    dialect: Dialect = _PLAIN_DIALECT
    dialects_by_host: tuple[tuple[str, Dialect], ...] = ()  # of servers known by their host
    # The hosts that speak its wire but have a type of their own, which has to be used for them.
    foreign_hosts: tuple[tuple[str, str], ...] = ()
    options: str = ""  # the key in `provider_options` of a model's configuration; "": its type
    price_table: str | None = None  # its name in the table of prices; None: prices are unknown
    desktop_model: str = ""  # that operates desktops; "": it has none
    resells: bool = False  # offers the models of other vendors, whose names its errors then bear
    error_words: tuple[str, ...] = ()  # by which the text of an error is known to be its own
    aliases: tuple[str, ...] = ()  # other spellings of its type

    @property
    def needs_base_url(self) -> bool:
        """Return whether it cannot be asked before somebody has said where it is."""
        return self.base_url is None and self.login in (Login.KEY, Login.OPTIONAL_KEY)

    @property
    def takes_keys(self) -> bool:
        """Return whether a provider of this type can be given API keys of the deployment."""
        return self.login in (Login.KEY, Login.OPTIONAL_KEY)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Return all variables of the environment that set it up."""
        first = (self.key, self.base_url_variable)
        return (*(each for each in first if each is not None), *self.more_variables)

    def dialect_at(self, host: str) -> Dialect:
        """Return how the server at a host speaks Chat Completions."""
        return dict(self.dialects_by_host).get(host, self.dialect)


def _key(*names: str, help: str) -> Variable:
    return Variable(names, help, is_secret=True)


IMAGE_BYTES_MAX = 5 * 1024 * 1024  # at Anthropic, the lowest bound of any vendor

_DOCUMENTS = ("image/", "text/", "application/pdf")
_IMAGES_AND_PDF = ("image/", "application/pdf")
_MESSAGES_RULES = PromptRules(_DOCUMENTS, image_bytes_max=IMAGE_BYTES_MAX, is_anthropic=True)
_CHAT_RULES = PromptRules((*_IMAGES_AND_PDF, "text/", "audio/"))
_GATEWAY_RULES = PromptRules((*_IMAGES_AND_PDF, "audio/"))
RESPONSES_RULES = PromptRules(_IMAGES_AND_PDF)
_OFFICE = ("application/msword", "application/vnd.ms-excel", "application/vnd.openxmlformats-")
CONVERSE_RULES = PromptRules((*_IMAGES_AND_PDF, *_OFFICE), image_bytes_max=15 * 1024 * 1024 // 4)

ANTHROPIC = Vendor(
    type="anthropic",
    name="Anthropic",
    wire=Wire.MESSAGES,
    base_url="https://api.anthropic.com",
    key=_key("ANTHROPIC_API_KEY", help="Anthropic"),
    base_url_variable=Variable(("ANTHROPIC_BASE_URL",), "Anthropic, found elsewhere"),
    default_model="claude-sonnet-4-5",
    rules=_MESSAGES_RULES,
    desktop_model="claude-opus-5",
    price_table="anthropic",
    error_words=("anthropic", "claude"),
)
OPENAI = Vendor(
    type="openai",
    name="OpenAI",
    wire=Wire.CHAT,
    speaks_responses="by config",
    base_url="https://api.openai.com/v1",
    key=_key("OPENAI_API_KEY", help="OpenAI"),
    base_url_variable=Variable(("OPENAI_BASE_URL",), "OpenAI, found elsewhere"),
    default_model="gpt-5",
    rules=_CHAT_RULES,
    dialect=Dialect(takes_top_k=False),
    foreign_hosts=(("openrouter.ai", "openrouter"),),
    desktop_model="gpt-5.6-sol",
    price_table="openai",
    error_words=("openai",),
)
GOOGLE = Vendor(
    type="google",
    name="Google",
    wire=Wire.GEMINI,
    base_url="https://generativelanguage.googleapis.com/v1beta",
    key=_key("GEMINI_API_KEY", "GOOGLE_API_KEY", help="Google's Gemini"),
    base_url_variable=Variable(("GEMINI_BASE_URL",), "Google's Gemini, found elsewhere"),
    default_model="gemini-2.5-pro",
    rules=PromptRules(("",)),
    price_table="google",
    error_words=("google", "gemini", "vertex"),
)
OPENROUTER = Vendor(
    type="openrouter",
    name="OpenRouter",
    wire=Wire.CHAT,
    base_url="https://openrouter.ai/api/v1",
    key=_key("OPENROUTER_API_KEY", help="OpenRouter"),
    base_url_variable=Variable(("OPENROUTER_BASE_URL",), "OpenRouter, found elsewhere"),
    default_model="openrouter/auto",
    rules=_GATEWAY_RULES,
    dialect=Dialect(
        thoughts="reasoning_details",
        effort="reasoning",
        answers_by_tool=True,
        counts_cost=True,
        marks_cache=True,
    ),
    price_table="openrouter",
    resells=True,
    error_words=("openrouter",),
)
VERCEL = Vendor(
    type="vercel",
    name="Vercel AI Gateway",
    wire=Wire.CHAT,
    base_url="https://ai-gateway.vercel.sh/v1",
    key=_key("AI_GATEWAY_API_KEY", help="Vercel's AI gateway"),
    base_url_variable=Variable(("AI_GATEWAY_BASE_URL",), "Vercel's AI gateway, found elsewhere"),
    default_model="openai/gpt-5",
    rules=_GATEWAY_RULES,
    dialect=Dialect(
        thoughts="reasoning_details", effort="reasoning", answers_by_tool=True, marks_cache=True
    ),
    resells=True,
    error_words=("vercel",),
)
AZURE = Vendor(
    type="azure",
    name="Azure OpenAI",
    wire=Wire.CHAT,
    speaks_responses="by model",
    key_header="api-key",
    key=_key("AZURE_OPENAI_API_KEY", help="Azure OpenAI; needs its base URL too"),
    base_url_variable=Variable(("AZURE_OPENAI_BASE_URL",), "https://RESOURCE.openai.azure.com"),
    default_model="gpt-5",
    rules=_CHAT_RULES,
    dialect=Dialect(takes_top_k=False),
    options="openai",
    price_table="azure",
    resells=True,
    error_words=("azure openai", "azure-openai"),
    aliases=("azure openai", "azure-openai"),
)
_COMPATIBLE = Dialect(thoughts="reasoning_content", answers_by_tool=True)
OPENAI_COMPAT = Vendor(
    type="openai-compat",
    name="OpenAI Compatible",
    wire=Wire.CHAT,
    login=Login.OPTIONAL_KEY,
    key=_key("OPENAI_COMPAT_API_KEY", help="a key for them, if they want one"),
    base_url_variable=Variable(
        ("OPENAI_COMPAT_BASE_URL",), "vLLM, Ollama and their like: http://HOST:PORT/v1"
    ),
    default_model="default",
    rules=_CHAT_RULES,
    dialect=_COMPATIBLE,
    dialects_by_host=(  # these refuse what the others take or ignore
        ("generativelanguage.googleapis.com", replace(_COMPATIBLE, thoughts=None, gemini=True)),
        ("api.groq.com", replace(_COMPATIBLE, thoughts=None)),
        ("api.mistral.ai", replace(_COMPATIBLE, thoughts=None, mistral=True)),
        ("codestral.mistral.ai", replace(_COMPATIBLE, thoughts=None, mistral=True)),
        ("api.cerebras.ai", replace(_COMPATIBLE, thoughts=None, takes_files=False)),
        ("api.deepseek.com", replace(_COMPATIBLE, takes_files=False)),
    ),
    options="openaicompat",
    resells=True,
    error_words=("openai-compat", "openai compat"),
    aliases=("openai compat", "openai compatible", "openai_compat"),
)
BEDROCK = Vendor(
    type="bedrock",
    name="AWS Bedrock",
    wire=Wire.BEDROCK,
    login=Login.AWS,
    more_variables=(
        _key("AWS_BEARER_TOKEN_BEDROCK", help="Bedrock, by a key of its own"),
        _key("AWS_ACCESS_KEY_ID", help="Bedrock, by a key of AWS; with AWS_SECRET_ACCESS_KEY"),
        _key("AWS_SECRET_ACCESS_KEY", help="the secret half of it"),
        _key("AWS_SESSION_TOKEN", help="the third part of a passing one"),
        Variable(
            ("AWS_REGION", "AWS_DEFAULT_REGION"),
            "the region of Bedrock",
            placeholder="REGION",
            default="us-east-1",
        ),
    ),
    default_model="anthropic.claude-sonnet-4-5-20250929-v1:0",  # in the geography of any region
    rules=_MESSAGES_RULES,
    options="anthropic",
    price_table="aws",
    resells=True,
    error_words=("bedrock",),
)
COPILOT = Vendor(type="copilot", name="GitHub Copilot", wire=None, login=Login.NONE)

# Providers of plugins: nobody sets one up, and each answers for itself.
PLUGIN = Vendor(
    type="plugin",
    name="a plugin",
    wire=Wire.PLUGIN,
    login=Login.NONE,
    rules=PromptRules(("",)),
)

# Their order says which one is the default where several are set up by the environment.
VENDORS = (
    *(ANTHROPIC, OPENAI, GOOGLE, OPENROUTER, VERCEL, AZURE, OPENAI_COMPAT, BEDROCK),
    COPILOT,
)
_BY_TYPE = {vendor.type: vendor for vendor in (*VENDORS, PLUGIN)}
_BY_ALIAS = {alias: vendor.type for vendor in VENDORS for alias in vendor.aliases}
# The words of those who resell come first: their errors may name the maker of the model, too.
_IN_ERRORS = sorted(VENDORS, key=lambda vendor: not vendor.resells)


def vendor_of(type: str) -> Vendor:
    """Return the vendor of a type; one that cannot be asked for a type that is not known."""
    return _BY_TYPE.get(type) or Vendor(type=type, name=type, wire=None, login=Login.NONE)


def display_name(type: str | None, otherwise: str) -> str:
    """Return a vendor's name for people, or other words where the type is not known."""
    vendor = _BY_TYPE.get(type or "")
    return otherwise if vendor is None else vendor.name


def type_named(name: str | None) -> str | None:
    """Return a vendor's type as we write it, however it was spelled; None for no name."""
    lowered = (name or "").strip().lower()
    return _BY_ALIAS.get(lowered, lowered) or None


def type_in_error(text: str) -> str | None:
    """Return the type of the vendor that the text of an error names, or None."""
    lowered = text.lower()
    found = (each for each in _IN_ERRORS if any(word in lowered for word in each.error_words))
    return next((vendor.type for vendor in found), None)
