"""The models that chats can ask: which there are, how each is reached, and what it is told.

For other rooms:
catalogue               the providers, models and settings that a process knows, and for how long
choosing                who may ask which model, and with what effort                     (pure)
snapshot                the catalogue at one moment                                       (pure)
assembling              a snapshot of what is stored and what the environment offers      (pure)
connecting              a configured model as a provider that can be asked, or the rehearsal
provider_config         providers and models as they are set up, or in the environment    (pure)
call_config             how a model is called, as administrators write it                 (pure)
settings                the settings of the deployment and of users, by name              (pure)
prompting               stored rows, files and tools as the prompt of a call
prompt_texts            the texts that the daemon itself tells models                     (pure)
skill_file              the file of a skill                                               (pure)
costs                   prices, and the book of what was bought beside messages
spend.wiring            limits of spending, and money for calls, opened for a process
spend.consenting        the tool by which a person lets a chat go on beyond a soft limit
spend.all_routes        the routes about spending
spend.health            facts about limits that an administrator should know
spend.usage             what was spent, by user, model, purpose, label and day
spend.schemas           spending as JSON
store                   the stored catalogue
debug_runs.attempts     the HTTP client that notes what is recorded
debug_runs.recorder     whose model calls are recorded, and as what
debug_runs.routes       the endpoints of recorded model calls
debug_runs.store        recorded runs and steps, as they are stored
debug_runs.wiring       the recording of model calls, put together
routes                  the catalogue's part of the API
providers.dial          connections to other hosts
providers.http          the HTTP client of all providers
providers.shared_reads  reads all answers that speak in one task
providers.faults        the ways in which a call fails

Inside:
debug_runs              records of model calls: the rest of their folder
spend                   limits of spending, what is set aside under them, and what was spent
providers               a folder for each protocol, and the HTTP that they share

A vendor that speaks a known protocol is added by its record in `actors.law.parts.vendors`. One with
a protocol of its own needs a `Wire` there, a folder in `providers` and a line in `connecting`.
"""
