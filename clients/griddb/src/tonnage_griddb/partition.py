"""The partitions of a cluster: one here."""

from __future__ import annotations

from tonnage_griddb.catalog import Catalog
from tonnage_griddb.errors import Code, GSException


class PartitionController:
    """The partitions of a cluster. A store of Tonnage counts as one, which has all containers."""

    partition_count = 1

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def get_container_count(self, partition_index: int) -> int:
        """How many containers there are."""
        self._check(partition_index)
        return len(self._catalog.names())

    def get_container_names(
        self, partition_index: int, start: int = 0, limit: int | None = None
    ) -> list[str]:
        """The names of the containers from a place on, at most `limit`; by name."""
        self._check(partition_index)
        names = self._catalog.names()[max(start, 0) :]
        return names if limit is None or limit < 0 else names[:limit]

    def get_partition_index_of_container(self, container_name: str) -> int:
        """The partition that a container of this name is in, whether it exists or not."""
        self._catalog.table_name(container_name)
        return 0

    def close(self) -> None:
        """Do nothing."""

    def _check(self, partition_index: int) -> None:
        if partition_index != 0:
            raise GSException(
                f"there is no partition {partition_index}: a store of Tonnage has one, 0",
                Code.ILLEGAL_PARAMETER,
            )
