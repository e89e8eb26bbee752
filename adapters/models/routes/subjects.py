"""All rows of the catalogue, with what they need."""

from collections.abc import Sequence

from actors.law.store.hints import Tell
from adapters.http.endpoints import Routes
from adapters.models.catalogue import Catalogue
from adapters.models.routes.model_configs import ModelRoutes
from adapters.models.routes.own_keys import OwnKeys
from adapters.models.routes.own_settings import OwnSettingRoutes
from adapters.models.routes.providers import ProviderRoutes
from adapters.models.routes.settings import Feature, SettingRoutes
from adapters.models.routes.skills import SkillRoutes
from adapters.models.routes.whose import People
from adapters.models.store.providers import ModelConfigs, Providers
from adapters.models.store.settings import Settings, Skills
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault

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
