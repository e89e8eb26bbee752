"""All endpoints of the catalogue, with what they need."""

from collections.abc import Sequence
from uuid import UUID

from actors.law.store.hints import Tell
from adapters.http.endpoints import Routes
from adapters.models.catalogue import Catalogue
from adapters.models.routes.checks import People
from adapters.models.routes.known_models import KnownModelRoutes, KnownModels
from adapters.models.routes.model_configs import ModelRoutes
from adapters.models.routes.organization_models import OrganizationModelRoutes
from adapters.models.routes.providers import ProviderRoutes
from adapters.models.routes.settings import DaemonFeatures, SettingRoutes
from adapters.models.routes.skills import SkillRoutes
from adapters.models.routes.user_keys import UserKeyRoutes
from adapters.models.routes.user_settings import UserSettingRoutes
from adapters.models.store.providers import ModelConfigStore, ProviderStore
from adapters.models.store.settings import SettingStore, SkillStore
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault

NO_FEATURE = DaemonFeatures()


def catalogue_routes(
    catalogue: Catalogue,
    vault: Vault,
    *,
    pool: Pool,
    tell: Tell,
    people: People,
    organization: UUID,
    feature: DaemonFeatures = NO_FEATURE,
) -> Sequence[Routes]:
    providers, settings = ProviderStore(pool, tell=tell), SettingStore(pool, tell=tell)
    configs = ModelConfigStore(pool, tell=tell, offers_model=catalogue.offers_model)
    models = ModelRoutes(catalogue, configs, organization=organization)
    return (
        ProviderRoutes(catalogue, providers, vault),
        UserKeyRoutes(catalogue, providers, vault, people=people),
        models,
        OrganizationModelRoutes(catalogue, models, organization=organization),
        KnownModelRoutes(KnownModels()),
        SettingRoutes(catalogue, settings, feature),
        UserSettingRoutes(catalogue, settings, feature),
        SkillRoutes(SkillStore(pool, tell=tell), people=people),
    )
