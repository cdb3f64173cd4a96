"""The first twenty texts: March and April 2026."""

from __future__ import annotations

from bench.scenario.key import Text

TEXTS = (
    Text(
        "2026-03-02",
        """\
# The team

- Mirela writes the backend of Lumen; reviews go to her first, and she is off on Fridays.
- Joost keeps the servers and holds the root passwords; ask him before you restart anything.
- Anika draws the screens; her files are in the shared folder `design/2026`.
- Petros decides what is built next and talks to the customers; he is in Thessaloniki, one hour ahead.
""",
        "team",
    ),
    Text(
        "2026-03-03",
        """\
Lumen is the booking service for small museums: tickets, guided tours and school classes.

- The repository is `git@forge.example.net:lumen/lumen.git`, the main branch is `main`.
- FastAPI and Python 3.12 behind, Svelte in front; the tests need `docker compose up -d db` first.
- 31 museums use it in March 2026; the largest is the Ship Museum with 900 tickets a day.
""",
        "lumen",
    ),
    Text(
        "2026-03-04",
        "Lumen goes to production on Tuesdays at 14:00, and never after 16:00.\n",
        "lumen/deploys",
    ),
    Text(
        "2026-03-06",
        """\
Our machines:

- heron, 10.20.0.5: production; 8 cores, 32 GB, rented in Falkenstein.
- wren, 10.20.0.9: staging and everything of Tidewatch; 4 cores, 16 GB.
- magpie, 192.168.7.20: the backup box in my cellar; takes dumps every night at 02:40.
- SSH only through the jump host on port 2217; passwords are switched off.
""",
        "servers",
    ),
    Text(
        "2026-03-09",
        """\
Wohnung Lindengasse 14, dritter Stock:

- Die Miete beträgt 1.180 Euro warm und geht am Dritten jedes Monats ab.
- Vermieterin ist Frau Brandner, am besten vormittags zu erreichen.
- Der Zählerstand vom 1. März: Strom 48.211, Wasser 318.
- Der Hauptschalter sitzt hinter dem Spiegel im Flur.
""",
        "flat",
    ),
    Text(
        "2026-03-10",
        """\
- Nele is in class 2b; her teacher is Mrs Okafor, and school is out at 13:10 (Wednesdays at 12:20).
- Nele must not eat cashews or pistachios; the emergency pen is in the blue pouch in her rucksack.
- Jonas works late on Mondays and Tuesdays, so I fetch her then.
""",
        "family",
    ),
    Text(
        "2026-03-12",
        """\
Tidewatch shows the water level in nine small harbours. A gauge sends a reading every 30 seconds; we draw the curve and
warn the harbour masters. It is written in Go, the repository is `forge.example.net/tide/watch`, and the map is an
ordinary tile layer. The county pays for it until the end of 2027.
""",
        "tidewatch",
    ),
    Text(
        "2026-03-16",
        """\
# How a release of Lumen is made

Whoever makes the release reads this from the top. It takes forty minutes, of which thirty are waiting.

## Before

- The branch `main` is green, and nobody has a migration in review.
- Write the change notes in `docs/changes/`, one line for each thing that a museum would notice.
- Tell Petros the evening before if a screen changes, so that he can warn the museums with opening hours at noon.
- Look at the disk of the machine: below 20 GB free, the build of the images fails half way.

## Build

1. Tag it: `git tag -s v$(date +%Y.%m.%d) && git push --tags`.
2. The forge builds two images, `lumen-web` and `lumen-worker`; this takes twelve minutes.
3. Check the sizes: `lumen-web` is about 210 MB. If it is above 400 MB, somebody has copied `node_modules` again.

## Staging first

- `make stage TAG=v2026.03.17` brings it up on staging with a copy of last night's data, names scrambled.
- Click through a booking for a school class with 31 children and two free tickets; that is where it broke twice.
- Pay once with the test card that ends in 4242, and once with the one that is refused.

## Production

```bash
cd /srv/lumen
export TAG=v2026.03.17
./bin/maintenance on --message "Back in five minutes"
docker compose pull && docker compose run --rm web alembic upgrade head
docker compose up -d web worker
./bin/maintenance off
```

- The migration must finish within 90 seconds; longer than that, the ticket gates go offline.
- Watch `/srv/lumen/log/gate.log` for two minutes: each gate says `hello` once.

## If it goes wrong

- Going back is `./bin/back v2026.03.10`: the old images come up, and the database stays as it is.
- A migration that drops a column cannot be taken back that way; so columns are dropped one release later.
- Call the Ship Museum yourself (not by mail) if their gates were closed for more than ten minutes.
- Write down what happened the same day, in `docs/incidents/`, with times.

## Afterwards

- Close the milestone, and move what is left to the next one.
- The change notes go out to the museums by mail at 17:00, from Petros and not from us.
- Once a month somebody other than Mirela makes the release, so that we all can.
""",
        "lumen/deploys",
    ),
    Text(
        "2026-03-18",
        """\
quillset, my library for subtitle files:

- Reads SRT, WebVTT and ASS; writes the first two. No dependencies, and it should stay like that.
- `quillset.load(path).shift(ms=-250).save("out.vtt")` is the example that everybody copies.
- Version 1.9 is on the package index since 2026-02-11; about 3,000 downloads a week.
- Two people have commit rights: me, and somebody who signs as pemberly.
""",
        "quillset",
    ),
    Text(
        "2026-03-20",
        """\
## Lumen planning, 2026-03-20

Present: Mirela, Anika, Petros and me.

- Webhooks are tried again five times when a museum's till does not answer, then they are given up.
- The API gets a version in its path: `/v2/bookings`; `/v1` stays until the end of September.
- Anika shows the new seat plan in April; it needs a list of rooms, which the API does not give yet.
""",
        "lumen/api",
        date="2026-03-20",
    ),
    Text(
        "2026-03-23",
        """\
On call for Lumen: Mirela in the odd calendar weeks, Joost in the even ones. The phone is handed over on Mondays at
09:00. Whoever is on call answers within 20 minutes, also at night, and gets the next Friday off.
""",
        "team/on-call",
        also="lumen",
    ),
    Text(
        "2026-03-25",
        """\
Viaje a Valencia en junio:

- Vuelo de ida el 12 de junio a las 07:55, vuelta el 19 de junio; localizador QX7RLM.
- El apartamento está en el Cabanyal, calle de la Reina 88, a dos calles de la playa.
- Nele quiere ver el acuario; las entradas se compran antes por internet.
""",
        "travel/valencia",
    ),
    Text(
        "2026-03-30",
        "The ingest of Tidewatch listens on UDP port 8125 on wren; the gauges know only the name, not the address.\n",
        "tidewatch/ingest",
    ),
    Text(
        "2026-04-01",
        "The Lumen deploy moves: from 2026-04-09 on it is on Thursdays at 10:00, no longer on Tuesday afternoons.\n",
        "lumen/deploys",
        stale={"tuesday": "thursday"},
    ),
    Text(
        "2026-04-03",
        """\
How to get last night's Lumen database back from the backup box:

```bash
scp magpie:/vault/lumen/$(date +%F).dump.zst /tmp/
zstd -d /tmp/*.dump.zst
pg_restore --clean --if-exists -d lumen /tmp/*.dump
```

Takes eleven minutes for 14 GB. The Postgres there is version 15, so use the `pg_restore` of 15.
""",
        "lumen/database",
        also="servers",
    ),
    Text(
        "2026-04-08",
        """\
---
title: Gauge protocol, short
tags: [tidewatch, protocol, hardware]
date: 2026-04-02
---

A frame is 22 bytes, big endian. The maker calls it revision C.

| bytes | what |
| --- | --- |
| 0-1 | magic, always `0x54 0x57` |
| 2-5 | serial number of the gauge |
| 6-13 | time in milliseconds, UTC |
| 14-17 | level in tenths of a millimetre above the zero of the gauge |
| 18-19 | battery in millivolts |
| 20-21 | CRC-16 with polynomial `0x8005` |

A gauge sends every frame twice, so the receiver must drop the second one.
A battery below 3,350 millivolts lasts for about nine more days.
""",
        "tidewatch/ingest",
        source="https://gauges.example.org/protocol-c.html",
        date="2026-04-02",
    ),
    Text(
        "2026-04-10",
        """\
# What is left from this week

- Lumen's nightly dump has grown to 14 GB; Joost wants to drop the table `visits_2023`, Petros has to agree.
- The plumber comes to the flat on 2026-04-15 between 8 and 10 because of the drip under the kitchen sink.
- quillset: pemberly wants to read TTML files, too; I said yes if it needs no XML library beyond the standard one.
""",
        "",
        parts={"Lumen's nightly": "lumen/database", "The plumber": "flat", "quillset:": "quillset"},
    ),
    Text(
        "2026-04-14",
        """\
Port 8125 belongs to statsd on wren, the readings were mixed up all Monday. Since today the Tidewatch ingest listens on
UDP 8225; the gauges were told at 16:20.
""",
        "tidewatch/ingest",
        stale={"8125": "8225"},
    ),
    Text(
        "2026-04-17",
        "Jonas's mother Helga turns 70 on 2026-09-12; we give her a weekend in Bruges; Nele paints the voucher.\n",
        "family",
    ),
    Text(
        "2026-04-22",
        """\
# heron, log of the disk trouble

## 2026-04-20

- 07:12: the second disk of heron reports 41 reallocated sectors; SMART says it fails soon.
- 07:40: Joost takes it out of the mirror; everything runs on one disk.

## 2026-04-21

- 11:30: the data centre puts in a new disk, serial ZK20-7713.
- 11:45: the mirror is built again; production is slow, 900 ms for a booking.

## 2026-04-22

- 03:05: the mirror is whole again after 15 hours and 20 minutes.
- 09:30: Joost writes a check that looks at both disks each hour and mails us both.
""",
        "servers/heron",
    ),
)
