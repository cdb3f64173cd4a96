"""The notes and the questions of `bench.links`: a workshop's people, services, machines and projects.

The questions were written before any search was asked. Each has the page and a part of the line that answers it. Those
of `TWO_HOPS` name what another page says of that page, and links to it.
"""

from __future__ import annotations

PAGES = {
    "memory": """# Home

Notes of the workshop. Start at [[people/mira]], [[people/tomas]], [[people/ilse]], [[people/ravi]], [[people/odile]],
[[people/ken]], or at the services: [[services/harbor]], [[services/lantern]], [[services/quarry]],
[[services/meadow]], [[services/anvil]], [[services/tern]].
""",
    "people/mira": """# Mira Castell

- Joined in March 2023, works from Porto
- Looks after [[services/harbor]] since the move
- Mentors [[people/ken]]
- Allergic to walnuts
- On call in even weeks
""",
    "people/tomas": """# Tomas Bruun

- Joined in May 2021, works from Aarhus
- Looks after [[services/lantern]] together with the night shift
- Leads [[projects/driftwood]]
- Drinks only decaf
- On call in odd weeks
""",
    "people/ilse": """# Ilse Haverkamp

- Joined in 2019, works from Groningen
- Looks after [[services/quarry]]
- Leads [[projects/kestrel]]
- Prefers mornings for reviews
""",
    "people/ravi": """# Ravi Menon

- Joined in October 2022, works from Pune
- Looks after [[services/meadow]]
- Wrote the proposal for [[projects/paperboat]]
- Plays the veena
""",
    "people/odile": """# Odile Garnier

- Joined in January 2020, works from Nantes
- Looks after [[services/anvil]] and its database
- Leads [[projects/paperboat]]
- Vegetarian
""",
    "people/ken": """# Ken Adeyemi

- Joined in 2024 as an apprentice, works from Leeds
- Looks after [[services/tern]] on Fridays
- Is writing his thesis on [[projects/kestrel]]
- Cycles to the office
""",
    "services/harbor": """# Harbor

Takes uploads from the field stations.

- Listens on port 8443
- Written in Go 1.22
- Data is kept for ninety days
- Runs on [[machines/basalt]]
- Backed up every six hours
- Restart it with `systemctl restart harbor`
""",
    "services/lantern": """# Lantern

Renders the maps.

- Listens on port 7010
- Written in Rust
- Data is kept for a week
- Runs on [[machines/granite]]
- Backed up once a day
- Restart it from the console of the night shift
""",
    "services/quarry": """# Quarry

The full-text search of the archive.

- Listens on port 9300
- Written in Java 21
- Data is kept for ten years
- Runs on [[machines/slate]]
- Backed up on Sundays
- Restart it only after the queue is empty
""",
    "services/meadow": """# Meadow

Sends mail and reminders.

- Listens on port 2525
- Written in Elixir
- Data is kept for thirty days
- Runs on [[machines/granite]]
- Not backed up
- Restart it twice, as the first one hangs
""",
    "services/anvil": """# Anvil

Bills and contracts.

- Listens on port 5050
- Written in Kotlin
- Data is kept for seven years
- Runs on [[machines/marble]]
- Backed up every hour
- Restart it with the key from the safe
""",
    "services/tern": """# Tern

Moves files between the offices.

- Listens on port 6161
- Written in Python 3.12
- Data is kept for two days
- Runs on [[machines/basalt]]
- Backed up once a month
- Restart it by a push to its branch
""",
    "machines/basalt": """# Basalt

- Stands in rack 4 in the cellar
- 64 GB of memory, two disks
- Replaced its fan in June 2025
- The warranty ends in November 2026
- Kernel 6.8
""",
    "machines/granite": """# Granite

- Stands in rack 2 in the cellar
- 128 GB of memory, four disks
- Replaced its power supply in May 2024
- The warranty ends in April 2027
- Kernel 6.1
""",
    "machines/slate": """# Slate

- Rented from a hoster in Falkenstein
- 256 GB of memory, eight disks
- Replaced a disk in August 2025
- The contract ends in January 2028
- Kernel 6.12
""",
    "machines/marble": """# Marble

- Stands in the office in Nantes
- 32 GB of memory, one disk
- Replaced its battery in March 2026
- The warranty ends in December 2025
- Kernel 5.15
""",
    "projects/driftwood": """# Driftwood

Fewer tiles that are drawn twice.

- Budget: 14,000 euros
- Deadline: 30 June 2026
- Depends on [[services/lantern]]
- Meets on Tuesdays at ten
- The sponsor is the harbour office in Esbjerg
- Blocked by the missing elevation data
""",
    "projects/kestrel": """# Kestrel

Search by place names.

- Budget: 32,500 euros
- Deadline: 15 September 2026
- Depends on [[services/quarry]]
- Meets on Thursdays at two
- The sponsor is the university of Groningen
- Blocked by the licence of the gazetteer
""",
    "projects/paperboat": """# Paperboat

Contracts that are signed online.

- Budget: 9,800 euros
- Deadline: 1 December 2026
- Depends on [[services/anvil]] and [[services/meadow]]
- Meets every second Monday
- The sponsor is the chamber of notaries
- Blocked by the audit
""",
    "places/porto": """# Office in Porto

- Three desks on the second floor, with a view of the river
- The door code is with the café below
- Used by [[people/mira]]
- Closed in August
""",
    "places/pune": """# Office in Pune

- A room in a shared house
- Ask the guard for the key
- Used by [[people/ravi]]
- Closed on Saturdays
""",
    "log/2026-04": """# April 2026

- 3 April: [[services/meadow]] stopped for an hour, the disk was full
- 9 April: [[services/tern]] lost four files, and had them again from the offices
- 17 April: the new budget for [[projects/kestrel]] was signed
- 21 April: thunderstorm, [[machines/basalt]] went off for ten minutes
- 28 April: [[people/odile]] showed how bills are cancelled
""",
    "log/2026-05": """# May 2026

- 5 May: [[services/quarry]] was slow after the import of the parish registers
- 11 May: [[people/tomas]] was ill, the night shift helped out
- 14 May: a customer from Bergen complained about [[services/lantern]]
- 22 May: [[projects/paperboat]] was shown to the notaries
- 26 May: water in the cellar, [[machines/granite]] was moved up
""",
}
TWO_HOPS = (
    ("Which port does the service that Mira looks after listen on?", "services/harbor", "port 8443"),
    ("Which port does the service of Ravi listen on?", "services/meadow", "port 2525"),
    ("In which language is the service written that Odile looks after?", "services/anvil", "Written in Kotlin"),
    ("In which language is the service that Ilse looks after written?", "services/quarry", "Written in Java"),
    ("How often is the service that Ken looks after backed up?", "services/tern", "Backed up once a month"),
    ("How often is the service of Tomas backed up?", "services/lantern", "Backed up once a day"),
    ("How long is the data kept by the service that Odile looks after?", "services/anvil", "kept for seven years"),
    ("How long is the data kept in the service of Ken?", "services/tern", "kept for two days"),
    ("How do I restart the service that Ravi looks after?", "services/meadow", "Restart it twice"),
    ("How is the service of Ilse restarted?", "services/quarry", "Restart it only after"),
    ("What is the budget of the project that Tomas leads?", "projects/driftwood", "14,000"),
    ("What is the budget of the project that Ilse leads?", "projects/kestrel", "32,500"),
    ("When is the deadline of the project that Odile leads?", "projects/paperboat", "1 December"),
    ("When is the deadline of the project that Ken writes his thesis on?", "projects/kestrel", "15 September"),
    ("What blocks the project that Tomas leads?", "projects/driftwood", "Blocked by the missing"),
    ("Who is the sponsor of the project that Ravi proposed?", "projects/paperboat", "chamber of notaries"),
    ("On which day does the project that Ilse leads meet?", "projects/kestrel", "Meets on Thursdays"),
    ("How much memory does the machine have on which Harbor runs?", "machines/basalt", "64 GB"),
    ("How much memory does the machine have on which Quarry runs?", "machines/slate", "256 GB"),
    ("When does the warranty of the machine end on which Anvil runs?", "machines/marble", "ends in December 2025"),
    ("When does the warranty of the machine that runs Lantern end?", "machines/granite", "ends in April 2027"),
    ("In which rack is the machine that runs Tern?", "machines/basalt", "rack 4"),
    ("What was replaced in the machine that runs Meadow?", "machines/granite", "power supply"),
    ("Which kernel does the machine of Quarry have?", "machines/slate", "Kernel 6.12"),
    ("Which kernel has the machine on which Anvil runs?", "machines/marble", "Kernel 5.15"),
    ("Where does the person live and work who looks after Quarry?", "people/ilse", "works from Groningen"),
    ("When did the person join who looks after Lantern?", "people/tomas", "Joined in May 2021"),
    ("What is the person allergic to who uses the office in Porto?", "people/mira", "Allergic"),
    ("Which instrument does the man from the office in Pune play?", "people/ravi", "veena"),
    ("Which port does the service have that stopped as the disk was full?", "services/meadow", "port 2525"),
    (
        "In which language is the service written that a customer from Bergen complained about?",
        "services/lantern",
        "Written in Rust",
    ),
    ("When is the deadline of the project that was shown to the notaries?", "projects/paperboat", "1 December"),
    ("What memory does the machine have that went off in the thunderstorm?", "machines/basalt", "64 GB"),
    (
        "How long does the service keep its data that was slow after the import of the parish registers?",
        "services/quarry",
        "kept for ten years",
    ),
    ("Which kernel does the machine have that was moved up because of water?", "machines/granite", "Kernel 6.1"),
    ("Who is the sponsor of the project that depends on Lantern?", "projects/driftwood", "Esbjerg"),
    ("On which weeks is the mentor of Ken on call?", "people/mira", "even weeks"),
    ("What is the deadline of the project that needs Quarry?", "projects/kestrel", "15 September"),
)
ONE_HOP = (
    ("Which port does Harbor listen on?", "services/harbor", "8443"),
    ("What is Paperboat blocked by?", "projects/paperboat", "audit"),
    ("Who looks after Quarry?", "people/ilse", "services/quarry"),
    ("Where does Odile work from?", "people/odile", "Nantes"),
    ("When does the warranty of Marble end?", "machines/marble", "December 2025"),
    ("Who leads Kestrel?", "people/ilse", "projects/kestrel"),
    ("What does Tomas drink?", "people/tomas", "decaf"),
    ("Who mentors Ken?", "people/mira", "Mentors"),
    ("What runs on Slate?", "services/quarry", "Runs on"),
    ("Which service lost four files?", "log/2026-04", "lost four files"),
    ("Which project depends on Anvil?", "projects/paperboat", "Depends"),
    ("When was the fan of Basalt replaced?", "machines/basalt", "fan"),
)
