"""The verb that shows the settings."""

from __future__ import annotations

import os
from dataclasses import replace

import click

from memory_v2.cli.columns import Column, table
from memory_v2.cli.show import out, out_json, plain
from memory_v2.cli.verb import ChosenMemory, Verb, json_option
from memory_v2.configuration import PATH, SETTINGS, user_file
from memory_v2.settings import Settings, configured

COLUMNS = (Column("setting"), Column("value"), Column("from", is_long=True), Column("variable", drop=1))


@click.command(cls=Verb)
@json_option
@click.pass_obj
def config(chosen: ChosenMemory, as_json: bool) -> None:
    """Show each setting, its value and where it comes from.

    An option before the verb counts first, then the environment, then silica.toml in the memory's folder, then
    silica.toml in your configuration folder, then the default. The file in a memory can only set what describes that
    memory, size_threshold and timezone: never a model, an endpoint or a limit of cost.

    \b
    Your silica.toml can look like this:
      model = "anthropic:claude-sonnet-5-5"
      timezone = "Europe/Madrid"
      limits = { turns = 8, money = 0.05 }
      s3 = { bucket = "memories" }

    \b
    Examples:
      silica memory config
      silica memory --path ./notes config --json
    """
    found = configured(os.environ, chosen.path, chosen.model)
    settings = Settings.from_configuration(found, os.environ)  # a value that means nothing is told before any is shown
    own = user_file(os.environ)
    rows = [(setting, found.find(setting)) for setting in SETTINGS]
    if rows[0][1].origin == "--path":
        rows[0] = (PATH, replace(rows[0][1], origin=chosen.option))
    if as_json:
        values = [
            {"setting": setting.key, "value": given.text, "from": given.origin, "variable": setting.variable}
            for setting, given in rows
        ]
        where = {"user_file": str(own) if own else None, "files_read": [str(file) for file in found.files]}
        out_json({"settings": values, "path": str(settings.path), **where, "ignored": found.ignored})
        return
    cells = [[setting.key, plain(given.text), plain(given.origin), setting.variable] for setting, given in rows]
    for line in table(COLUMNS, cells):
        out(line)
