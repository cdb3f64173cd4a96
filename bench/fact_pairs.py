"""Facts that change, made up: fifty pairs in four languages, each with a question, and what is told between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VALUE = re.compile(r"\{(.*?)\}")


@dataclass(frozen=True, slots=True)
class Pair:
    """A fact, the fact that replaces it, and a question about both; the values tell which of them is found."""

    language: str
    old: str
    new: str
    question: str
    old_value: str
    new_value: str


def pairs() -> list[Pair]:
    """All pairs, the languages mixed."""
    by_language = [[_pair(language, *three) for three in _threes(text)] for language, text in _PAIRS.items()]
    longest = max(map(len, by_language))
    return [given[number] for number in range(longest) for given in by_language if number < len(given)]


def _threes(text: str) -> list[list[str]]:
    lines = text.strip().splitlines()
    return [lines[start : start + 3] for start in range(0, len(lines), 3)]


def _pair(language: str, old: str, new: str, question: str) -> Pair:
    values = [_VALUE.findall(told)[0] for told in (old, new)]
    return Pair(language, _VALUE.sub(r"\1", old), _VALUE.sub(r"\1", new), question, *values)


_PAIRS = {
    "en": """
The staging API listens on port {8081}.
The staging API has moved to port {9443}.
Which port does the staging API listen on?
We deploy the billing service on {Tuesdays}.
The billing service is now deployed on {Fridays}, after lunch.
On which day do we deploy the billing service?
Marta Velasquez works as a {data engineer} at Nordlicht.
Marta Velasquez was promoted to {head of analytics} at Nordlicht.
What is Marta Velasquez's job?
Grandpa Otto lives at {14 Linden Street}.
Grandpa Otto moved to {77 Harbour Road}.
Where does grandpa Otto live?
The parser library is pinned to version {3.4.1}.
We upgraded the parser library to version {4.0.2}.
What version of the parser library do we use?
The wifi password of the guest network is {blue-kettle}.
The guest network got a new wifi password: {quiet-otter}.
What is the wifi password of the guest network?
Our dentist is {Dr. Halloran}.
We changed our dentist: it is {Dr. Imbert} from now on.
Who is our dentist?
The nightly backup starts at {02:15}.
The nightly backup was rescheduled and starts at {04:40}.
When does the nightly backup start?
Team Heron has its stand-up in room {Copper}.
Team Heron's stand-up takes place in room {Basalt}.
In which room is team Heron's stand-up?
Priya is on call for the {search cluster}.
Priya has taken over on-call duty for the {mail gateway} instead.
What is Priya on call for?
Rent for the workshop is {940 euros} a month.
The landlord raised the rent for the workshop to {1,015 euros} a month.
How much is the rent for the workshop?
The orders database runs on {MariaDB}.
The orders database was migrated to {CockroachDB}.
What does the orders database run on?
Log files are kept for {30 days}.
Log files are kept for {90 days}, says the new policy.
How long are log files kept?
The cat eats {salmon} kibble.
The cat only eats {rabbit} kibble these days.
What kibble does the cat eat?
Jonas drives a green {Skoda}.
Jonas sold his car and drives a {Polestar}.
Which car does Jonas drive?
The mobile app's release manager is {Aiko}.
{Benedikt} is the release manager of the mobile app.
Who is the release manager of the mobile app?
The linter for the web client is {Pylint}.
For the web client we switched the linter to {Biome}.
Which linter does the web client use?
The spare key is under the {flowerpot}.
The spare key hangs in the {garage}.
Where is the spare key?
The image upload limit is {5 MB}.
The image upload limit was raised to {12 MB}.
What is the image upload limit?
Choir practice is on {Wednesday} evenings.
Choir practice has been moved to {Monday} evenings.
When is choir practice?
""",
    "de": """
Der Druckserver hat die Adresse {10.4.0.17}.
Der Druckserver ist jetzt unter {10.9.2.33} zu erreichen.
Welche Adresse hat der Druckserver?
Die Heizung wird von der Firma {Kessler} gewartet.
Die Wartung der Heizung übernimmt nun die Firma {Obermaier}.
Welche Firma wartet die Heizung?
Frau Tiedemann leitet den {Einkauf}.
Frau Tiedemann leitet seit der Umstellung den {Vertrieb}.
Was leitet Frau Tiedemann?
Die Bibliothek schließt um {18 Uhr}.
Die Bibliothek schließt jetzt erst um {20 Uhr}.
Wann schließt die Bibliothek?
Unser Stromtarif heißt {Ökoflex}.
Wir haben den Stromtarif gewechselt, er heißt {Sonnenfix}.
Wie heißt unser Stromtarif?
Lenas Klavierstunde ist am {Donnerstag}.
Lenas Klavierstunde findet nun am {Samstag} statt.
An welchem Tag ist Lenas Klavierstunde?
Das Lager befindet sich in {Wuppertal}.
Das Lager ist nach {Kassel} umgezogen.
Wo befindet sich das Lager?
Der Testserver läuft mit {Debian 11}.
Auf dem Testserver läuft nach der Neuinstallation {Debian 13}.
Welches Betriebssystem läuft auf dem Testserver?
Die Müllabfuhr kommt {dienstags}.
Die Müllabfuhr kommt nach dem neuen Plan {freitags}.
Wann kommt die Müllabfuhr?
Für Reisekosten ist {Herr Brandl} zuständig.
Für Reisekosten ist künftig {Frau Yilmaz} zuständig.
Wer ist für Reisekosten zuständig?
""",
    "es": """
El servidor de correo usa el puerto {2525}.
El servidor de correo usa ahora el puerto {4650}.
¿Qué puerto usa el servidor de correo?
La reunión de ventas es los {lunes}.
La reunión de ventas pasa a los {jueves}.
¿Qué día es la reunión de ventas?
Ramiro trabaja como {camarero} en Sevilla.
Ramiro trabaja ahora como {electricista} en Sevilla.
¿De qué trabaja Ramiro?
La tía Pilar vive en la calle {Olmo 12}.
La tía Pilar se ha mudado a la calle {Cerezo 48}.
¿Dónde vive la tía Pilar?
El proveedor de café es {Tostados Luna}.
Hemos cambiado de proveedor de café: es {Granos del Sur}.
¿Quién es el proveedor de café?
La contraseña de la alarma es {4471}.
La nueva contraseña de la alarma es {9026}.
¿Cuál es la contraseña de la alarma?
El almacén abre a las {ocho}.
El almacén abre ahora a las {diez}.
¿A qué hora abre el almacén?
La versión del cliente móvil es la {2.7.5}.
La versión del cliente móvil ya es la {3.1.0}.
¿Cuál es la versión del cliente móvil?
El entrenador de Inés se llama {Gonzalo}.
El nuevo entrenador de Inés se llama {Fermín}.
¿Cómo se llama el entrenador de Inés?
El seguro del coche es de {Mutua Alba}.
Pasamos el seguro del coche a {Segurmar}.
¿De qué compañía es el seguro del coche?
""",
    "zh": """
测试服务器的端口是{7070}。
测试服务器的端口改成了{6161}。
测试服务器的端口是多少？
周会在{星期二}上午开。
周会改到{星期四}上午开。
周会在哪一天开？
李雯在公司担任{会计}。
李雯升职了，在公司担任{财务总监}。
李雯在公司担任什么职务？
外婆住在{梧桐路}十二号。
外婆搬到了{海棠街}九号。
外婆住在哪里？
支付模块的版本是{5.2.8}。
支付模块的版本升级到{6.0.3}。
支付模块的版本是多少？
儿子的钢琴老师是{周老师}。
儿子的钢琴老师换成了{孟老师}。
儿子的钢琴老师是谁？
仓库的门禁密码是{3389}。
仓库的门禁密码改为{7752}。
仓库的门禁密码是多少？
健身房的月费是{260元}。
健身房的月费涨到{315元}。
健身房的月费是多少？
数据备份存放在{上海}机房。
数据备份迁到了{成都}机房。
数据备份存放在哪个机房？
班车的发车时间是{七点二十}。
班车的发车时间调整为{八点零五}。
班车的发车时间是几点？
""",
}

NOTES = """
The tomato seedlings on the balcony need more light.
Read the essay about lighthouse keepers, loved the ending.
Compression of the sensor archive saved a third of the disk.
The neighbours lent us a ladder and a box of tiles.
Idea: a card game in which the deck grows while you lose.
Profiling shows that most of the time goes into parsing timestamps.
Soup with lentils, cumin and a bit of lemon works well.
The museum shop sells postcards of the old tram lines.
Tests for the importer are flaky when two of them share a folder.
Ordered a new blade for the bread knife.
The code review guide should mention naming more clearly.
Walked around the reservoir, saw two kingfishers.
Das Fahrrad quietscht beim Bremsen, Beläge prüfen.
Im Keller riecht es nach Farbe, bitte lüften.
Der Vortrag über Moore war länger als gedacht.
Rezept: Pflaumenkuchen mit Streuseln und Zimt.
Beim Umzug ist die kleine Stehlampe zerbrochen.
Das Protokoll der Sitzung liegt im roten Ordner.
Las plantas del patio necesitan una maceta más grande.
El libro sobre faros antiguos está en la estantería azul.
Hay que limpiar el filtro de la cafetera.
La película del festival nos gustó mucho a todos.
Probamos una receta de berenjenas con miel.
El informe de accesibilidad tiene tres capítulos.
阳台上的番茄长得很快。
昨晚的电影配乐非常好听。
这本关于灯塔的书值得再读一遍。
厨房的水龙头有点漏水。
登山的时候看到了两只松鼠。
新同事带来了家乡的茶叶。
""".strip().splitlines()
"""Have nothing to do with any question."""

AHEAD = """
The certificate of the mail relay is valid until 2027-03-31.
Deadline for the documentation of the staging API: 2027-01-15.
2027-02-01: deadline for the tax papers of the workshop.
Appointment of grandpa Otto with the eye doctor on 4 December 2027.
The contract with the choir's rehearsal hall ends on 2027-06-30.
The orders database will be archived by 2028-01-01.
The parser library's old branch is supported until 2027-11-30.
The cat's next vaccination is due on 2027-04-12.
Die Garantie der Heizung gilt bis 30.09.2027.
Die Ausstellung in der Bibliothek läuft bis zum 15. Mai 2027.
2027-07-01: Abgabe der Inventur für das Lager.
Der Vertrag für den Stromtarif endet am 31.12.2027.
El seguro del almacén es válido hasta el 2027-08-31.
La garantía del servidor de correo vence el 15 de marzo de 2027.
2027-05-20: última fecha para el informe de ventas.
El contrato del proveedor de café termina el 2027-10-01.
健身房的会员卡有效期到2027年9月30日。
仓库的租约到2028年2月1日为止。
2027年6月1日之前要提交数据备份的报告。
班车的路线将在2027年3月1日重新检查。
""".strip().splitlines()
"""Speak of days to come, some about what the questions ask for."""
