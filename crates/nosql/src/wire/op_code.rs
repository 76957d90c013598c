//! The operations that requests may ask for.

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpCode {
    Delete,
    DeleteIfVersion,
    Get,
    Put,
    PutIfAbsent,
    PutIfPresent,
    PutIfVersion,
    Query,
    Prepare,
    WriteMultiple,
    MultiDelete,
    GetTable,
    GetIndexes,
    TableUsage,
    ListTables,
    TableRequest,
    SystemRequest,
    SystemStatus,
    AddReplica,
    DropReplica,
    ReplicaStatistics,
}

/// The number of each operation, its name in failures, and its name in metrics.
const OPERATIONS: [(i64, OpCode, &str, &str); 21] = [
    (0, OpCode::Delete, "DELETE", "delete"),
    (1, OpCode::DeleteIfVersion, "DELETE", "delete"),
    (2, OpCode::Get, "GET", "get"),
    (3, OpCode::Put, "PUT", "put"),
    (4, OpCode::PutIfAbsent, "PUT", "put"),
    (5, OpCode::PutIfPresent, "PUT", "put"),
    (6, OpCode::PutIfVersion, "PUT", "put"),
    (7, OpCode::Query, "QUERY", "query"),
    (8, OpCode::Prepare, "PREPARE", "prepare"),
    (9, OpCode::WriteMultiple, "WRITE_MULTIPLE", "write_multiple"),
    (10, OpCode::MultiDelete, "MULTI_DELETE", "multi_delete"),
    (11, OpCode::GetTable, "GET_TABLE", "get_table"),
    (12, OpCode::GetIndexes, "GET_INDEXES", "get_indexes"),
    (13, OpCode::TableUsage, "GET_TABLE_USAGE", "table_usage"),
    (14, OpCode::ListTables, "LIST_TABLES", "list_tables"),
    (15, OpCode::TableRequest, "TABLE_REQUEST", "table_request"),
    (23, OpCode::SystemRequest, "SYSTEM_REQUEST", "system_request"),
    (24, OpCode::SystemStatus, "SYSTEM_STATUS_REQUEST", "system_status"),
    (33, OpCode::AddReplica, "AddReplica", "replica"),
    (34, OpCode::DropReplica, "DropReplica", "replica"),
    (35, OpCode::ReplicaStatistics, "GetReplicaStats", "replica"),
];

impl OpCode {
    pub(super) fn of_number(number: i64) -> Option<OpCode> {
        OPERATIONS.iter().find(|operation| operation.0 == number).map(|operation| operation.1)
    }

    /// Its name in failures.
    pub(super) fn name(self) -> &'static str {
        self.row().map_or("", |operation| operation.2)
    }

    /// Its name in metrics.
    pub(super) fn label(self) -> &'static str {
        self.row().map_or("other", |operation| operation.3)
    }

    /// Whether it is one on rows, whose answers begin with a code and tell the topology.
    pub(super) fn is_of_rows(self) -> bool {
        use OpCode::*;
        matches!(
            self,
            Delete
                | DeleteIfVersion
                | Get
                | Put
                | PutIfAbsent
                | PutIfPresent
                | PutIfVersion
                | WriteMultiple
                | MultiDelete
                | Query
        )
    }

    /// Whether its answer tells the topology.
    pub(super) fn tells_topology(self) -> bool {
        self.is_of_rows() || self == OpCode::Prepare
    }

    fn row(self) -> Option<&'static (i64, OpCode, &'static str, &'static str)> {
        OPERATIONS.iter().find(|operation| operation.1 == self)
    }
}
