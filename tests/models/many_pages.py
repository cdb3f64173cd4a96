"""A memory of three hundred pages about people, projects, tools and places, whose words overlap; and notes for it."""

from __future__ import annotations

from memory_v2.memory import Memory
from tests.operations.scenes import offline

_FIRST = "Mara Jonas Priya Tomás Elif Ngozi Hannah Viktor Aiko Samuel Ingrid Rafael Leila Oskar Wanjiru"
_LAST = "Lindqvist Brandt Raman Okafor Petersen Moreau Tanaka Novak"
ROLES = ("designer", "backend developer", "accountant", "product owner", "data analyst", "nurse", "teacher")
CITIES = ("Lisbon", "Hamburg", "Pune", "Lagos", "Osaka", "Kraków", "Toronto")
_PROJECTS = (
    "Falcon Orchid Lantern Quarry Meridian Tundra Cobalt Juniper Harbour Saffron Atlas Pebble Kestrel Willow Granite "
    "Ember Lagoon Marble Thistle Zephyr Basalt Clover Delta Fjord Glacier Indigo Jasper Krill Lilac Mango Nectar Opal "
    "Prairie Quartz Raven Sequoia Topaz Umber Velvet Walnut Xenon Yarrow Zinc Acorn Birch Cedar Dune Elm Fern Gorse"
)
FIRST, LAST, PROJECTS = _FIRST.split(), _LAST.split(), _PROJECTS.split()
KINDS = ("mobile app", "billing service", "data pipeline", "website relaunch", "hiring campaign", "sensor network")
_TOOLS = (
    "Redis Kafka Postgres Terraform Grafana Ansible Jenkins Docker Nomad Vault Consul Prometheus Bazel Gradle Webpack "
    "Elasticsearch RabbitMQ Nginx HAProxy Celery Airflow Spark Flink Hadoop Snowflake BigQuery Looker Tableau Figma "
    "Sketch Jira Confluence Slack Zoom Notion Trello Asana Linear Sentry Datadog Splunk PagerDuty Okta Keycloak "
    "Traefik Envoy Istio Linkerd Helm Packer"
)
TOOLS = _TOOLS.split()
USES = ("caching sessions", "alerts", "deployments", "reports for the board", "the nightly import", "access rights")
TOPICS = (
    ("Kitchen", "The oven is a Siemens from 2019. The fridge hums at night."),
    ("Tax return", "Receipts are kept in the blue folder. The deadline is the end of July."),
    ("Vegetable garden", "Tomatoes grow along the wall. Compost comes in March."),
    ("Bicycles", "The cargo bike needs a new chain. The pump is in the cellar."),
    ("Piano lessons", "Lessons are on Thursdays with Mrs Keller. The Bach invention is next."),
    ("Summer holiday", "The cottage in Brittany is booked for two weeks. The ferry leaves from Plymouth."),
    ("Health insurance", "The policy covers dental work. Claims go through the portal."),
    ("Choir", "Rehearsals are on Mondays in the parish hall. The requiem is sung in November."),
    ("Sourdough", "The starter is fed with rye flour. Bake at 240 degrees with steam."),
    ("Beehives", "Two hives stand behind the shed. Treat against varroa in August."),
)
OFFICES = tuple(f"{city} office" for city in CITIES)


def people() -> list[str]:
    """A hundred and twenty names, of which each first name and each last name is had by several."""
    return [f"{first} {last}" for first in FIRST for last in LAST]


def many_pages() -> Memory:
    """The memory: each page is made by hand, the hubs list them."""
    memory = offline()
    hubs: dict[str, list[tuple[str, str]]] = {}

    def put(hub: str, title: str, described: str, *lines: str) -> None:
        path = f"{hub}/{title.casefold().replace(' ', '-')}"
        hubs.setdefault(hub, []).append((path, described))
        memory.storage.write(path, (f"# {title}\n\n" + "\n\n".join(lines) + "\n").encode())

    for n, name in enumerate(people()):
        role, city, project, tool = ROLES[n % 7], CITIES[n % 5], PROJECTS[n % 50], TOOLS[(3 * n) % 50]
        first = name.split()[0]
        put(
            "people",
            name,
            f"{name}: {role}, {city}",
            f"{first} is a {role} in {city}.",
            f"{first} works on {project} and knows {tool} well.",
        )
    for n, name in enumerate(PROJECTS):
        kind, lead, tool = KINDS[n % 6], people()[(7 * n) % 120], TOOLS[(5 * n) % 50]
        built = f"It is built with {tool}. The next review is due soon."
        put("projects", name, f"{name}: {kind}, led by {lead}", f"{name} is a {kind}, led by {lead}.", built)
    for n, name in enumerate(TOOLS):
        use, project = USES[n % 6], PROJECTS[(11 * n) % 50]
        put("tools", name, f"{name}: {use}", f"{name} is used for {use}.", f"{project} and others depend on it.")
    for n, name in enumerate(OFFICES):
        put("offices", name, f"{name}: address, keys", f"The office has {20 + n} desks.", "The alarm code is in Vault.")
    for n in range(63):
        kind, project = KINDS[n % 6], PROJECTS[n % 50]
        title = f"{('Retrospective', 'Budget', 'Roadmap')[n % 3]} {project} {n // 50 + 1}"
        said = f"What the team of {project} said about the {kind}. More reviews, fewer meetings."
        put("meetings", title, f"{title}: what the team said", said)
    for title, text in TOPICS:
        put("home", title, f"{title}: {text}", text)
    for hub, listed in hubs.items():
        children = "".join(f"- [[{path}]] - {described}\n" for path, described in listed)
        memory.storage.write(hub, f"# {hub.capitalize()}\n\n## Links\n\n{children}".encode())
    top = "".join(f"- [[{hub}]] - {hub.capitalize()}\n" for hub in hubs)
    memory.storage.write("memory", f"# Memory\n\n## Links\n\n{top}".encode())
    return memory


NOTES = (
    ("Mara Lindqvist is on parental leave until October.", "people/mara-lindqvist"),
    (
        "Spoke to Jonas Tanaka: he wants to move to the night shift.\nHe also asked for a standing desk.",
        "people/jonas-tanaka",
    ),
    ("Priya Novak's birthday is the 9th of May.", "people/priya-novak"),
    ("Ngozi Moreau is allergic to nuts, mind that at the team dinner.", "people/ngozi-moreau"),
    ("Phone of Oskar Petersen: 040 5551234.", "people/oskar-petersen"),
    ("Leila Okafor will speak about sensor networks in Lisbon.", "people/leila-okafor"),
    ("Aiko Brandt is married to a teacher from Hamburg.", "people/aiko-brandt"),
    ("Viktor Raman prefers to be called Vik.", "people/viktor-raman"),
    ("Falcon ships its beta on the 3rd of June.\nThe store listing is still missing screenshots.", "projects/falcon"),
    ("The launch of Saffron slips by two weeks.", "projects/saffron"),
    ("Kestrel was cancelled by the board.", "projects/kestrel"),
    ("Juniper's billing bug: invoices show the wrong currency.", "projects/juniper"),
    ("We decided to rename the endpoints of Basalt.", "projects/basalt"),
    ("For Glacier, the sensors arrive on Monday.", "projects/glacier"),
    ("Opal got a second designer.", "projects/opal"),
    ("Lantern now has its own staging environment.", "projects/lantern"),
    ("Redis evicts keys when maxmemory is reached; the policy is allkeys-lru.", "tools/redis"),
    ("The Terraform state is locked in a bucket in Frankfurt.", "tools/terraform"),
    ("Grafana dashboards are exported every night.", "tools/grafana"),
    ("Upgrade of Keycloak to version 26 went fine.", "tools/keycloak"),
    ("Jenkins is to be switched off in December.", "tools/jenkins"),
    ("HAProxy needs a reload when a certificate changes.", "tools/haproxy"),
    ("PagerDuty rotates on Tuesdays at ten.", "tools/pagerduty"),
    ("Our licence for Tableau runs out in spring.", "tools/tableau"),
    ("The key to the Lagos office is with the porter.", "offices/lagos-office"),
    ("The Osaka office gets a new coffee machine.", "offices/osaka-office"),
    ("Wifi in the Toronto office is slow on the second floor.", "offices/toronto-office"),
    ("The oven in the kitchen now only heats from below.", "home/kitchen"),
    ("The tax return was sent on the 2nd of July.", "home/tax-return"),
    ("Slugs ate the lettuce in the vegetable garden.", "home/vegetable-garden"),
    ("The starter for the sourdough smells of acetone when it is hungry.", "home/sourdough"),
    ("Choir rehearsal moves to the school while the parish hall is painted.", "home/choir"),
    ("The cargo bike's chain is replaced, 38 euros.", "home/bicycles"),
    ("The varroa count was low this year.", "home/beehives"),
    ("Health insurance refunds glasses up to 150 euros.", "home/health-insurance"),
    ("The ferry from Plymouth is booked for the 14th.", "home/summer-holiday"),
    ("Mrs Keller is ill, no piano lessons this month.", "home/piano-lessons"),
    ("Remember to buy light bulbs.", "memory"),
    ("The neighbours have a new dog called Bruno.", "memory"),
    ("Somebody should look into cheaper flights.", "memory"),
)
