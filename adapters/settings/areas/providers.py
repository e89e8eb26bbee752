"""The settings of providers of models. Pure.

They are no fields of `Config`: each is handed on under the name of its variable, in
`Config.environ`. A key that is there is a provider, without any further step: see
actors/law/parts/vendors.py.
"""

from actors.law.parts.vendors import VENDORS, Variable
from adapters.settings.kinds import PlainText, SecretText
from adapters.settings.setting import Setting, Subject

KEY_CHARACTERS_MAX = 10_240


def _of_vendor(variable: Variable) -> Setting:
    """Return the setting of a variable that sets up a vendor of models."""
    # What is wrong with a URL is said with the name of its model.
    is_secret = variable.is_secret
    return Setting(
        name=variable.names[0].lower(),
        subject=Subject.PROVIDERS,
        kind=SecretText(1, KEY_CHARACTERS_MAX) if is_secret else PlainText(variable.placeholder),
        variable_names=variable.names,
        secret=is_secret,
        default_words=variable.default,
        help=variable.help,
    )


PROVIDER_SETTINGS = (
    Setting(
        name="model",
        subject=Subject.PROVIDERS,
        kind=PlainText("PROVIDER/MODEL"),
        default_words="of the first provider that is there",
        help="the model of chats that name none",
    ),
    *(_of_vendor(each) for vendor in VENDORS for each in vendor.variables),
)
