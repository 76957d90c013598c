"""Descriptions of containers, columns, indexes and expiry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tonnage_griddb.enums import ContainerType, IndexType, TimeUnit, Type, TypeOption
from tonnage_griddb.errors import Code, GSException

PRECISIONS = (TimeUnit.MILLISECOND, TimeUnit.MICROSECOND, TimeUnit.NANOSECOND)


@dataclass(frozen=True)
class Column:
    """A column, with everything that either generation says of it.

    Attributes:
        time_unit: the precision of a TIMESTAMP.
    """

    name: str
    type: Type
    nullable: bool = True
    time_unit: TimeUnit = TimeUnit.MILLISECOND


class NameList(list[str]):
    """Names, also by a call: in the newer client it is a method, against its documents."""

    def __call__(self) -> list[str]:
        return list(self)


class ExpirationInfo:
    """How long rows live.

    Attributes:
        time: so many units.
        unit: DAY, HOUR, MINUTE, SECOND or MILLISECOND.
        division_count: kept, without effect. Tonnage removes expired rows by itself.
    """

    def __init__(self, time: int, unit: TimeUnit | int, division_count: int = -1) -> None:
        self.time = time
        self.unit = TimeUnit(unit)
        self.division_count = division_count

    def __repr__(self) -> str:
        return f"ExpirationInfo({self.time}, {self.unit.name}, {self.division_count})"


class IndexInfo:
    """An index over one column or more."""

    def __init__(
        self,
        column_name_list: Sequence[str] | None = None,
        name: str | None = None,
        type: IndexType | int = IndexType.DEFAULT,
    ) -> None:
        self.column_name_list = list(column_name_list or ())
        self.name = name
        self.type = IndexType(type)


class ContainerInfo:
    """A container: its name, its columns, its kind and its row key.

    Args:
        name: its name. Upper and lower case are the same.
        column_info_list: for each column `[name, Type]`, `[name, Type, TypeOption]`, or a dict with
            `name`, `type`, `option` and `time_unit`.
        type: COLLECTION or TIME_SERIES.
        row_key: whether the first column is the row key. A time series has one always.
        expiration: how long rows live. The newer client has `row_key_column_list` in its place.
        data_affinity: kept, without effect.
        row_key_column_list: the leading columns that make up the row key.
    """

    def __init__(
        self,
        name: str,
        column_info_list: Sequence[Any],
        type: ContainerType | int = ContainerType.COLLECTION,
        row_key: bool = True,
        expiration: ExpirationInfo | Sequence[str] | None = None,
        data_affinity: str | None = None,
        row_key_column_list: Sequence[str] | None = None,
        *,
        dataAffinity: str | None = None,  # noqa: N803 - the name in the older documents
    ) -> None:
        if expiration is not None and not isinstance(expiration, ExpirationInfo):
            expiration, row_key_column_list = None, expiration
        self.name = name
        self.columns = [column_of(column) for column in column_info_list]
        self.type = ContainerType(type)
        self.row_key = bool(row_key)
        self.expiration: ExpirationInfo | None = expiration
        self.data_affinity = data_affinity or dataAffinity
        self._key = list(row_key_column_list) if row_key_column_list else None

    @property
    def column_info_list(self) -> list[list[Any]]:
        """For each column `[name, Type, TypeOption]`."""
        return [[column.name, column.type, _option(column)] for column in self.columns]

    @column_info_list.setter
    def column_info_list(self, columns: Sequence[Any]) -> None:
        self.columns = [column_of(column) for column in columns]

    @property
    def column_info_list_dict(self) -> list[dict[str, Any]]:
        """For each column a dict; a TIMESTAMP has its `time_unit`, too."""
        return [_as_dict(column) for column in self.columns]

    @property
    def row_key_column_list(self) -> NameList:
        """The names of the columns of the row key."""
        if self._key is not None:
            return NameList(self._key)
        return NameList([self.columns[0].name] if self.row_key and self.columns else [])

    @property
    def dataAffinity(self) -> str | None:  # noqa: N802
        return self.data_affinity

    def __repr__(self) -> str:
        return f"ContainerInfo({self.name!r}, {self.type.name}, {self.column_info_list})"


def column_of(told: Any) -> Column:
    """The column that a list, a tuple or a dict tells."""
    if isinstance(told, Column):
        return told
    try:
        if isinstance(told, Mapping):
            name, kind = told["name"], told["type"]
            option, unit = told.get("option"), told.get("time_unit")
        else:
            name, kind, *rest = told
            option = rest[0] if rest else None
            unit = rest[1] if len(rest) > 1 else None
        return Column(
            str(name),
            Type(kind),
            option is None or TypeOption(option) == TypeOption.NULLABLE,
            _precision(unit),
        )
    except (TypeError, ValueError, KeyError) as error:
        raise GSException(
            f"{told!r} is not a column ({error}): "
            "give [name, Type], [name, Type, TypeOption] or a dict",
            Code.ILLEGAL_SCHEMA,
        ) from error


def _precision(unit: Any) -> TimeUnit:
    precision = TimeUnit.MILLISECOND if unit is None else TimeUnit(unit)
    if precision not in PRECISIONS:
        raise ValueError(f"time_unit is {precision.name}: MILLISECOND, MICROSECOND or NANOSECOND")
    return precision


def _option(column: Column) -> TypeOption:
    return TypeOption.NULLABLE if column.nullable else TypeOption.NOT_NULL


def _as_dict(column: Column) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "option": _option(column),
    }
    if column.type == Type.TIMESTAMP:
        told["time_unit"] = column.time_unit
    return told
