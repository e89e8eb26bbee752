"""All rows of the catalogue, with what they need."""

from collections.abc import Sequence

from actors.store.outbox import Tell
from adapters.api.catalogue.model_configs import ModelRoutes
from adapters.api.catalogue.own_keys import OwnKeys
from adapters.api.catalogue.own_settings import OwnSettingRoutes
from adapters.api.catalogue.providers import ProviderRoutes
from adapters.api.catalogue.settings import Feature, SettingRoutes
from adapters.api.catalogue.skills import SkillRoutes
from adapters.api.catalogue.whose import People
from adapters.api.endpoints import Routes
from adapters.models.catalogue import Catalogue
from adapters.postgres.catalogue.configs import ModelConfigs
from adapters.postgres.catalogue.providers import Providers
from adapters.postgres.catalogue.settings import Settings
from adapters.postgres.catalogue.skills import Skills
from adapters.postgres.driver.pool import Pool
from adapters.secrets import Vault

NO_FEATURE = Feature()


def catalogue_subjects(
    catalogue: Catalogue,
    vault: Vault,
    *,
    pool: Pool,
    tell: Tell,
    people: People,
    feature: Feature = NO_FEATURE,
) -> Sequence[Routes]:
    providers, settings = Providers(pool, tell=tell), Settings(pool, tell=tell)
    return (
        ProviderRoutes(catalogue, providers, vault),
        OwnKeys(catalogue, providers, vault, people=people),
        ModelRoutes(catalogue, ModelConfigs(pool, tell=tell, offers=catalogue.offers)),
        SettingRoutes(catalogue, settings, feature),
        OwnSettingRoutes(catalogue, settings, feature),
        SkillRoutes(Skills(pool, tell=tell), people=people),
    )
