"""The names of GridDB's Python client over the embedded store Tonnage.

>>> from tonnage_griddb import ContainerInfo, StoreFactory, Type
>>> store = StoreFactory.get_instance().get_store(host="memory:")
>>> info = ContainerInfo("ships", [["name", Type.STRING], ["tons", Type.LONG]])
>>> ships = store.put_container(info)
>>> ships.put(["ARGO", 300])
False
>>> ships.multi_put([["ARGO", 310], ["PEQUOD", 240]])
>>> list(ships.query("select * where tons > 250").fetch())
[['ARGO', 310]]
>>> store.close()
"""

from tonnage_griddb import old_names
from tonnage_griddb.arrow import RootAllocator
from tonnage_griddb.container import Container
from tonnage_griddb.enums import (
    Aggregation,
    ContainerType,
    FetchOption,
    IndexType,
    InterpolationMode,
    QueryOrder,
    RowSetType,
    TimeUnit,
    Type,
    TypeOption,
)
from tonnage_griddb.errors import GSException
from tonnage_griddb.info import ContainerInfo, ExpirationInfo, IndexInfo
from tonnage_griddb.keys import RowKey, RowKeyPredicate
from tonnage_griddb.old_names import *  # noqa: F403
from tonnage_griddb.partition import PartitionController
from tonnage_griddb.query import Query
from tonnage_griddb.results import AggregationResult, QueryAnalysisEntry
from tonnage_griddb.rowset import RowSet
from tonnage_griddb.store import Store, StoreFactory
from tonnage_griddb.timestamps import Timestamp, TimestampUtils
from tonnage_griddb.undo import TransactionWarning

__all__ = [
    "Aggregation",
    "AggregationResult",
    "Container",
    "ContainerInfo",
    "ContainerType",
    "ExpirationInfo",
    "FetchOption",
    "GSException",
    "IndexInfo",
    "IndexType",
    "InterpolationMode",
    "PartitionController",
    "Query",
    "QueryAnalysisEntry",
    "QueryOrder",
    "RootAllocator",
    "RowKey",
    "RowKeyPredicate",
    "RowSet",
    "RowSetType",
    "Store",
    "StoreFactory",
    "TimeUnit",
    "Timestamp",
    "TimestampUtils",
    "TransactionWarning",
    "Type",
    "TypeOption",
]
__all__ += old_names.__all__
