"""The entrance: a factory of stores, and a store of containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tonnage

from tonnage_griddb import arrow, conditions, connection
from tonnage_griddb.bulk import put_many
from tonnage_griddb.catalog import Catalog
from tonnage_griddb.container import Container
from tonnage_griddb.enums import Type
from tonnage_griddb.errors import Code, GSException, of_tonnage, translated
from tonnage_griddb.info import ContainerInfo
from tonnage_griddb.keys import RowKey, RowKeyPredicate, key_values
from tonnage_griddb.partition import PartitionController
from tonnage_griddb.query import Query
from tonnage_griddb.shape import shape_of
from tonnage_griddb.tql.syntax import Expression
from tonnage_griddb.tql.syntax import Query as Syntax

VERSION = "Tonnage with the names of griddb_python 5.8 and 0.8.5"
DEFAULT_DATABASE = "public"


class StoreFactory:
    """Gives stores. There is one, `get_instance` gives it."""

    _instance: StoreFactory | None = None

    @staticmethod
    def get_instance() -> StoreFactory:
        """The factory."""
        if StoreFactory._instance is None:
            StoreFactory._instance = StoreFactory()
        return StoreFactory._instance

    def get_store(
        self,
        host: str | None = None,
        port: int | None = None,
        cluster_name: str | None = None,
        database: str | None = None,
        username: str | None = None,
        password: str | None = None,
        notification_member: str | None = None,
        notification_provider: str | None = None,
        application_name: str | None = None,
        time_zone: str | None = None,
        authentication: str | None = None,
        ssl_mode: str | None = None,
        connection_route: str | None = None,
    ) -> Store:
        """Open a store of Tonnage.

        The environment variable `TONNAGE_STORE` names it: a directory, `memory:` for a store that
        lasts until its last connection closes, or the address of a server, `grpc://HOST:PORT`.
        Without the variable, `host` may be any of these, or a server's name beside its `port`.
        `username` and `password` are for a server with users. Names of clusters have no effect.

        Args:
            database: separates containers from those of other databases. `public` is the default.
        """
        where = connection.address(host, port, notification_member or notification_provider)
        name = database if database and database != DEFAULT_DATABASE else None
        # Programs name a user for any store; a store of this process has none.
        return Store(where, name, username, password)

    def get_version(self) -> str:
        """What this client is."""
        return f"{VERSION} (tonnage {tonnage.__version__})"

    def close(self) -> None:
        """Nothing to be closed: each store closes by itself."""


class Store:
    """The containers of a database. Any thread may use it."""

    def __init__(
        self,
        where: str,
        database: str | None,
        user: str | None = None,
        password: str | None = None,
    ) -> None:
        self._where = where
        self._tonnage = connection.acquire(where, user, password)
        self._catalog = Catalog(self._tonnage, database)
        self._is_closed = False

    # Containers

    def put_container(self, info: ContainerInfo, modifiable: bool = False) -> Container:
        """Make a container, or return it when it exists with these columns.

        Args:
            modifiable: change a container that exists with other columns: add nullable columns
                behind the others, and drop columns.
        """
        self._check_open()
        if not isinstance(info, ContainerInfo):
            raise GSException(f"{info!r} is not a ContainerInfo", Code.ILLEGAL_PARAMETER)
        shape = self._catalog.create(info, modifiable)
        return Container(self._tonnage, self._catalog, shape)

    def get_container(self, name: str) -> Container | None:
        """Return a container by its name, in any case; None when there is none.

        A table made without this package is a container, too, if GridDB has its types.
        """
        self._check_open()
        shape = self._catalog.find(name)
        return None if shape is None else Container(self._tonnage, self._catalog, shape)

    def get_container_info(self, name: str) -> ContainerInfo | None:
        """Return the name, columns and kind of a container; None when there is none."""
        self._check_open()
        shape = self._catalog.find(name)
        return None if shape is None else shape.info()

    def drop_container(self, name: str) -> None:
        """Drop a container with its rows. It need not exist."""
        self._check_open()
        self._catalog.drop(name)

    @property
    def partition_info(self) -> PartitionController:
        """The names of the containers, by partition."""
        self._check_open()
        return PartitionController(self._catalog)

    @property
    def partition_controller(self) -> PartitionController:
        """The older name of `partition_info`."""
        return self.partition_info

    # Many containers in one call

    def multi_put(
        self, container_entry: Mapping[str, Any], root_allocator: object | None = None
    ) -> None:
        """Store rows in several containers by one bulk put, replacing those with the same keys.

        Args:
            container_entry: for each container a list of rows, or an Arrow record batch.

        Stores nothing when a container does not exist or a row does not fit.
        """
        self._check_open()
        entries = [(self._need(name), rows) for name, rows in container_entry.items()]
        put_many(self._tonnage, entries)

    def multi_get(
        self,
        predicate_entry: Mapping[str, RowKeyPredicate],
        root_allocator: object | None = None,
    ) -> dict[str, Any]:
        """Get rows of several containers in one call.

        Returns:
            For each container a list of rows; with a `RootAllocator` an Arrow record batch. Rows of
            distinct keys come in the order of the keys, other rows sorted by key. Containers that
            do not exist are left out.
        """
        self._check_open()
        found = {}
        for name, predicate in predicate_entry.items():
            container = self.get_container(name)
            if container is not None:
                _check_key_type(container, predicate)
                found[name] = (container, predicate)
        rows = {**self._rows_of_keys(found), **self._rows_of_conditions(found)}
        ordered = {name: rows[name] for name in found}
        if root_allocator is None:
            return ordered
        return {
            name: arrow.batch_of(taken, found[name][0]._shape.columns)
            for name, taken in ordered.items()
        }

    def fetch_all(self, query_list: Sequence[Query]) -> None:
        """Run many queries in one call, side by side. `Query.get_row_set` returns what each found.

        When queries fail, the others have their row sets. Then it raises a `GSException` with all
        failures in its stack.
        """
        self._check_open()
        failures: list[GSException] = []
        ready: list[tuple[Query, str]] = []
        for query in query_list:
            try:
                ready.append((query, query._prepare(False)))
            except GSException as error:
                failures.append(_of_container(query, error))
        with translated("fetch_all"):
            answers = self._tonnage.fetch_all([sql for _, sql in ready])
        for (query, _), answer in zip(ready, answers):
            try:
                if isinstance(answer, tonnage.TonnageError):
                    raise of_tonnage(answer)
                query._take(answer)
            except GSException as error:
                failures.append(_of_container(query, error))
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise GSException(
                f"{len(failures)} of {len(query_list)} queries failed, the first: {failures[0]}",
                failures[0].get_error_code(0),
                others=failures,
            )

    # Keys

    def create_row_key_predicate(self, type: Type | int | RowKey) -> RowKeyPredicate:
        """A condition on row keys of a type; given a `RowKey`, on keys of several columns."""
        if isinstance(type, RowKey):
            return RowKeyPredicate(None)
        kind = Type(type)
        if kind not in (Type.STRING, Type.INTEGER, Type.LONG, Type.TIMESTAMP):
            raise GSException(
                f"a row key is no {kind.name}: STRING, INTEGER, LONG or TIMESTAMP",
                Code.UNSUPPORTED_KEY_TYPE,
            )
        return RowKeyPredicate(kind)

    def create_row_key(self, info: ContainerInfo) -> RowKey:
        """A row key of a container, to be filled with values."""
        return RowKey(shape_of(info, info.name).key)

    def close(self, all_related: bool = False) -> None:
        """Close the connection; the last one to a store closes it."""
        if not self._is_closed:
            self._is_closed = True
            connection.release(self._where, self._tonnage)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self._where!r})"

    def _need(self, name: str) -> Container:
        return Container(self._tonnage, self._catalog, self._catalog.need(name))

    def _check_open(self) -> None:
        if self._is_closed:
            raise GSException(
                "the store is closed: get it from the factory again", Code.RESOURCE_CLOSED
            )

    def _rows_of_keys(
        self, found: Mapping[str, tuple[Container, RowKeyPredicate]]
    ) -> dict[str, list[list[Any]]]:
        """The rows of distinct keys, by one bulk get over all containers."""
        wanted = {}
        for name, (container, predicate) in found.items():
            if predicate.kind != "keys" or container._has_nanos:
                continue
            codec, count = container._codec, len(container._shape.key)
            keys = [
                codec.encode_key(key_values(key, count)) for key in predicate.get_distinct_keys()
            ]
            wanted[name] = list(dict.fromkeys(keys))
        # Two names in different case are one table.
        asked: dict[str, list[Any]] = {}
        for name, keys in wanted.items():
            asked.setdefault(found[name][0]._shape.table, []).extend(keys)
        with translated("multi_get"):
            answers = self._tonnage.multi_get(
                {table: list(dict.fromkeys(keys)) for table, keys in asked.items() if keys}
            )
        by_table = {table: _by_key(table, answer, found) for table, answer in answers.items()}
        rows = {}
        for name, keys in wanted.items():
            taken = by_table.get(found[name][0]._shape.table, {})
            rows[name] = [taken[key] for key in keys if key in taken]
        return rows

    def _rows_of_conditions(
        self, found: Mapping[str, tuple[Container, RowKeyPredicate]]
    ) -> dict[str, list[list[Any]]]:
        """The rows of ranges, and all rows, by queries in one call."""
        queries = {}
        for name, (container, predicate) in found.items():
            if predicate.kind == "keys" and not container._has_nanos:
                continue
            queries[name] = _query_of(container, predicate)
        self.fetch_all(list(queries.values()))
        return {name: list(query.get_row_set() or ()) for name, query in queries.items()}


def _query_of(container: Container, predicate: RowKeyPredicate) -> Query:
    columns = container._shape.key_columns
    where: Expression | None = None
    if predicate.kind == "keys":
        keys = [key_values(key, len(columns)) for key in predicate.get_distinct_keys()]
        where = conditions.any_of(columns, keys)
    if predicate.kind == "range":
        start, end = (
            None if key is None else key_values(key, len(columns)) for key in predicate.get_range()
        )
        where = conditions.between(columns, start, end)
    return Query(container, lambda planner: planner.plan(Syntax(where=where)))


def _by_key(
    table: str, answer: Any, found: Mapping[str, tuple[Container, RowKeyPredicate]]
) -> dict[tuple[Any, ...], list[Any]]:
    container = next(each for each, _ in found.values() if each._shape.table == table)
    if isinstance(answer, tonnage.TonnageError):
        raise of_tonnage(answer, f"container {container._shape.name}")
    with translated(f"container {container._shape.name}"):
        rows = [container._decoded(row) for row in answer.rows()]
    return {container._codec.key_of(row): row for row in rows}


def _check_key_type(container: Container, predicate: RowKeyPredicate) -> None:
    shape = container._shape
    types = [column.type for column in shape.key_columns]
    if not types:
        raise GSException(f"container {shape.name} has no row key", Code.KEY_NOT_FOUND)
    if predicate.key_type is not None and types != [predicate.key_type]:
        told = ", ".join(each.name for each in types)
        raise GSException(
            f"container {shape.name} has a row key of type {told}, and the condition is one on "
            f"{predicate.key_type.name}",
            Code.UNSUPPORTED_KEY_TYPE,
        )


def _of_container(query: Query, error: GSException) -> GSException:
    name = query._container._shape.name
    told = str(error)
    if not told.startswith(f"container {name}"):
        told = f"container {name}: {told}"
    raised = GSException(told, error.get_error_code(0), is_timeout=error.is_timeout)
    raised.__cause__ = error
    return raised
