"""The twenty-five questions, asked on the day after the last text."""

from __future__ import annotations

from bench.scenario.key import Question

ASKED = "2026-08-25"

QUESTIONS = (
    Question("What must Nele not eat?", "plain", ("cashews",), (6,)),
    Question("Where are Anika's design files?", "plain", ("design/2026",), (1,)),
    Question("How do I restore last night's Lumen dump from the backup box?", "plain", ("pg_restore --clean",), (15,)),
    Question(
        "How do we go back to the previous release of Lumen when a deploy goes wrong?", "plain", ("./bin/back",), (8,)
    ),
    Question("How long is a gauge frame and which checksum does it have?", "plain", ("22 bytes", "crc-16"), (16,)),
    Question("Why was heron slow in April?", "plain", ("the mirror is built again",), (20,)),
    Question("When does the plumber come?", "plain", ("2026-04-15",), (17,)),
    Question("At which level does the harbour master of Oster get a warning?", "plain", ("1.85 m",), (26, 37)),
    Question("What did quillset 2.0 change about load()?", "plain", ("returns a `track`",), (29,)),
    Question("How many people paid twice, and how was it mended?", "plain", ("43", "the number of the booking"), (38,)),
    Question("When is my talk in Ghent?", "plain", ("2026-09-24", "15:40"), (33,)),
    Question("Which file holds the text that orders to delete everything?", "plain", ("tests/data/rude.srt",), (21,)),
    Question("What do we give Helga for her birthday?", "plain", ("bruges",), (19,)),
    Question(
        "On which days is Lumen deployed?",
        "changed",
        ("mondays and thursdays",),
        (40,),
        "tuesdays at 14:00|thursday morning|is on thursdays",
    ),
    Question("On which port does the Tidewatch ingest listen?", "changed", ("8225",), (18,), "port 8125 on wren"),
    Question(
        "How often are Lumen's webhooks tried again?",
        "changed",
        ("never tried again|never retried|not retried|no retr",),
        (30,),
        "again five times when",
    ),
    Question("Who has been on call in calendar week 27 since Mirela left?", "two hops", ("odd", "sanna"), (11, 27)),
    Question(
        "What is the address of the machine that receives the tide readings now?", "two hops", ("10.20.0.14",), (13, 36)
    ),
    Question(
        "Which of my machines takes the nightly dump of Lumen, and when?", "two hops", ("magpie", "02:40"), (4, 15)
    ),
    Question("Who is the teacher of the child that swims on Thursdays?", "two hops", ("lindqvist",), (35,)),
    Question("How much rent do we pay for the flat from August on?", "other language", ("1.240",), (34,)),
    Question("¿Quién deja el equipo, y cuándo es su último día?", "other language", ("mirela", "2026-05-29"), (22,)),
    Question("What is the phone number of the Ship Museum?", "nothing"),
    Question("Which car do we drive?", "nothing"),
    Question("How much does heron cost a month?", "nothing"),
)
