"""The containers of a store, with what their tables cannot say.

A table of Tonnage cannot say BYTE, SHORT or GEOMETRY, nor the kind of a container or its expiry.
Another table has these, as entries. An entry is written before the container's table is made or
altered, and counts when the table has its columns. So a crash between the two loses nothing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import tonnage

from tonnage_griddb.enums import ContainerType, TimeUnit, Type
from tonnage_griddb.errors import Code, GSException, translated
from tonnage_griddb.info import Column, ContainerInfo, ExpirationInfo
from tonnage_griddb.shape import (
    Shape,
    fits,
    folded,
    quoted,
    shape_of,
    shape_of_table,
    sql_type,
)

TABLE = "_griddb_containers"


class Catalog:
    """The containers of a database in a store."""

    def __init__(self, store: tonnage.Store, database: str | None) -> None:
        self._store = store
        self._prefix = f"{database}:" if database else ""

    def table_name(self, container: str) -> str:
        """The name of the table of a container. Tonnage has points between parents and children."""
        if not isinstance(container, str) or not container:
            raise GSException(
                f"{container!r} is not a name of a container", Code.CONTAINER_NAME_INVALID
            )
        return self._prefix + container.replace("%", "%25").replace(".", "%2E")

    def find(self, container: str) -> Shape | None:
        """A container by its name, whatever its case."""
        name = self.table_name(container)
        with translated(f"container {container}"):
            try:
                table = self._store.table(name)
            except tonnage.NotFound:
                return None
            return None if table.path == TABLE else self._shape_of(table)

    def need(self, container: str) -> Shape:
        """A container by its name. Raises when there is none."""
        found = self.find(container)
        if found is None:
            raise GSException(
                f"there is no container {container}: make it with put_container",
                Code.CONTAINER_NOT_FOUND,
            )
        return found

    def names(self) -> list[str]:
        """The names of all containers."""
        with translated("names of containers"):
            return [
                shape.name
                for table in self._store.tables()
                if self._has(table.path) and (shape := self._shape_or_none(table)) is not None
            ]

    def create(self, info: ContainerInfo, modifiable: bool) -> Shape:
        """Make a container, or find it as it is; change it if it differs and that is allowed."""
        wanted = shape_of(info, self.table_name(info.name))
        existing = self.find(info.name)
        if existing is not None:
            return self._change(existing, wanted, modifiable)
        self._remember(wanted, *self._entries_of(wanted.table))
        with translated(f"container {info.name}"):
            try:
                self._store.sql(wanted.definition())
            except tonnage.Conflict:
                # Another thread made it in the meantime.
                return self._change(self.need(info.name), wanted, modifiable)
        self._remember(wanted)
        return wanted

    def drop(self, container: str) -> None:
        """Drop a container. One that does not exist is left alone."""
        found = self.find(container)
        if found is None:
            return
        with translated(f"container {container}"):
            self._store.sql(f"DROP TABLE IF EXISTS {quoted(found.table)}")
            self._table().delete(folded(found.table))

    def set_indexes(self, shape: Shape, indexes: dict[str, list[str]]) -> Shape:
        """Remember the indexes of a container."""
        changed = replace(shape, indexes=indexes)
        self._remember(changed)
        return changed

    def _change(self, existing: Shape, wanted: Shape, modifiable: bool) -> Shape:
        difference = _difference(existing, wanted)
        if difference is None:
            return existing
        if not modifiable:
            raise GSException(
                f"container {existing.name} exists with other columns ({difference}): give "
                "modifiable=True to change it",
                Code.SCHEMA_CHANGE_DISABLED,
            )
        steps = _steps(existing, wanted)
        changed = replace(
            wanted, name=existing.name, table=existing.table, hidden=existing.hidden,
            indexes=existing.indexes,
        )
        self._remember(changed, existing)
        with translated(f"container {existing.name}"):
            if steps:
                self._store.sql(f"ALTER TABLE {quoted(existing.table)} ({', '.join(steps)})")
        stored = [column.name for column in self._store.table(existing.table).columns]
        order = [name for name in stored if name != existing.hidden]
        if order != changed.names:
            raise GSException(
                f"container {existing.name}: columns can only be added after the others",
                Code.SCHEMA_CHANGE_INVALID,
            )
        self._remember(changed)
        return changed

    def _shape_of(self, table: tonnage.Table) -> Shape:
        for told in self._entries_of(table.path):
            if fits(told, table):
                return told
        return shape_of_table(_container_name(table.path, self._prefix), table)

    def _shape_or_none(self, table: tonnage.Table) -> Shape | None:
        try:
            return self._shape_of(table)
        except GSException:
            return None

    def _has(self, table: str) -> bool:
        """Whether a table is a container of this database. Points tell child tables."""
        if table == TABLE or "." in table:
            return False
        if self._prefix:
            return folded(table).startswith(folded(self._prefix))
        return ":" not in table

    def _table(self) -> tonnage.Table:
        try:
            return self._store.table(TABLE)
        except tonnage.NotFound:
            self._store.sql(
                f"CREATE TABLE IF NOT EXISTS {quoted(TABLE)} "
                "(container STRING, shapes STRING, PRIMARY KEY (container))"
            )
            return self._store.table(TABLE)

    def _entries_of(self, table: str) -> list[Shape]:
        """What is remembered of a table: while it is changed, both shapes that it may have."""
        try:
            row = self._store.table(TABLE).get(folded(table))
        except tonnage.NotFound:
            return []
        return [] if row is None else [_of_json(told, table) for told in json.loads(row["shapes"])]

    def _remember(self, *shapes: Shape) -> None:
        told = json.dumps([_to_json(shape) for shape in shapes])
        with translated(f"container {shapes[0].name}"):
            self._table().put([folded(shapes[0].table), told])


def _container_name(table: str, prefix: str) -> str:
    return table[len(prefix) :].replace("%2E", ".").replace("%25", "%")


def _difference(existing: Shape, wanted: Shape) -> str | None:
    """In what two shapes differ, in a few words; None when they do not."""
    if existing.type != wanted.type:
        return f"it is a {existing.type.name}"
    if [folded(name) for name in existing.key] != [folded(name) for name in wanted.key]:
        return f"its row key is {', '.join(existing.key) or 'none'}"

    def told(shape: Shape) -> list[tuple[Any, ...]]:
        return [
            (folded(column.name), column.type, column.nullable, column.time_unit)
            for column in shape.columns
        ]

    if told(existing) != told(wanted):
        columns = ", ".join(f"{column.name} {column.type.name}" for column in existing.columns)
        return f"they are {columns}"
    return None


def _steps(existing: Shape, wanted: Shape) -> list[str]:
    """What ALTER TABLE has to do. Raises where GridDB refuses, too."""
    def refuse(reason: str) -> GSException:
        return GSException(
            f"container {existing.name}: {reason}: make another container and copy the rows",
            Code.SCHEMA_CHANGE_INVALID,
        )

    if existing.type != wanted.type or existing.key != wanted.key:
        raise refuse("its kind and its row key cannot be changed")
    before = {folded(column.name): column for column in existing.columns}
    after = {folded(column.name): column for column in wanted.columns}
    for name in before.keys() & after.keys():
        old, new = before[name], after[name]
        if (old.type, old.nullable, old.time_unit) != (new.type, new.nullable, new.time_unit):
            raise refuse(f"column {old.name} cannot become another one")
    kept = [name for name in before if name in after]
    added = [column for name, column in after.items() if name not in before]
    if [folded(column.name) for column in wanted.columns] != kept + [
        folded(column.name) for column in added
    ]:
        raise refuse("columns can only be added after the others")
    for column in added:
        if not column.nullable:
            raise refuse(f"column {column.name} is new and NOT_NULL: rows have no value for it yet")
    dropped = [column for name, column in before.items() if name not in after]
    return [f"DROP {quoted(column.name)}" for column in dropped] + [
        f"ADD {quoted(column.name)} {sql_type(column)}" for column in added
    ]


def _to_json(shape: Shape) -> dict[str, Any]:
    expiration = shape.expiration
    return {
        "name": shape.name,
        "type": shape.type.name,
        "columns": [
            [column.name, column.type.name, column.nullable, column.time_unit.name]
            for column in shape.columns
        ],
        "key": list(shape.key),
        "hidden": shape.hidden,
        "expiration": expiration
        and [expiration.time, expiration.unit.name, expiration.division_count],
        "data_affinity": shape.data_affinity,
        "indexes": shape.indexes,
    }


def _of_json(told: dict[str, Any], table: str) -> Shape:
    expiration = told["expiration"]
    return Shape(
        told["name"],
        table,
        ContainerType[told["type"]],
        tuple(
            Column(name, Type[kind], nullable, TimeUnit[unit])
            for name, kind, nullable, unit in told["columns"]
        ),
        tuple(told["key"]),
        told["hidden"],
        expiration and ExpirationInfo(expiration[0], TimeUnit[expiration[1]], expiration[2]),
        told["data_affinity"],
        told["indexes"],
    )
