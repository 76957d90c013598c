//! A space as a table of Cassandra, with its statements.

use std::sync::atomic::{AtomicUsize, Ordering};

use scylla::statement::prepared::PreparedStatement;
use tokio::sync::OnceCell;
use tonnage_engine::{Error, Projection, Result, SpaceId, SpaceInfo};

use crate::cluster::Cluster;

/// The statements on a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CqlStatement {
    /// Rows of a partition by key: `p, [c]`.
    Rows,
    /// The same without payloads.
    RowsKeys,
    /// Rows of several partitions by key: `[p], [c]`.
    Spread,
    SpreadKeys,
    /// Rows of a partition, with the time stamps of their headers.
    RowsWithStamps,
    /// A range of a partition: `p, c, c, limit`.
    Range,
    RangeKeys,
    /// A range to the end of a partition: `p, c, limit`.
    Rest,
    RestKeys,
    /// The same backwards.
    RangeBack,
    RangeBackKeys,
    RestBack,
    RestBackKeys,
    /// All rows of a token range: `token, token, limit`.
    Ring,
    RingKeys,
    /// How many rows a range of a partition has: `p, c, c`.
    Count,
    CountRest,
    /// On condition that there is no row: `ttl, h, d, p, c`.
    PutNew,
    /// On condition of the header: `ttl, h, d, p, c, h`.
    PutOver,
    /// On condition that there is no row: `p, c`.
    DeleteNone,
    /// Under a time stamp of its own: `ttl, h, d, p, c`.
    Load,
    /// The same: `p, c`.
    Remove,
    /// `stamp, p, c`.
    RemoveStored,
    /// `stamp, p, c, c`.
    DeleteRange,
    /// `stamp, p, c`.
    DeleteRest,
}

const STATEMENTS: usize = CqlStatement::DeleteRest as usize + 1;

impl CqlStatement {
    fn cql(self, table: &str) -> String {
        const ALL: &str = "c, h, d";
        const KEYS: &str = "c, h";
        let within = |columns: &str, condition: &str, order: &str| {
            format!("SELECT {columns} FROM {table} WHERE p = ? AND {condition}{order} LIMIT ?")
        };
        let ring = |columns: &str| {
            format!("SELECT {columns} FROM {table} WHERE token(p) > ? AND token(p) <= ? LIMIT ?")
        };
        let keys = |columns: &str| format!("SELECT {columns} FROM {table} WHERE p = ? AND c IN ?");
        let spread =
            |columns: &str| format!("SELECT {columns} FROM {table} WHERE p IN ? AND c IN ?");
        // UPDATE, not INSERT, which leaves a row marker that may outlive the header.
        let put = format!("UPDATE {table} USING TTL ? SET h = ?, d = ? WHERE p = ? AND c = ?");
        let (range, rest, back) = ("c >= ? AND c < ?", "c >= ?", " ORDER BY c DESC");
        // Callers bind values by position: a change of an arm changes them, and the docs of its
        // variant, too.
        match self {
            CqlStatement::Rows => keys(ALL),
            CqlStatement::RowsKeys => keys(KEYS),
            CqlStatement::Spread => spread(ALL),
            CqlStatement::SpreadKeys => spread(KEYS),
            CqlStatement::RowsWithStamps => keys("c, h, writetime(h)"),
            CqlStatement::Range => within(ALL, range, ""),
            CqlStatement::RangeKeys => within(KEYS, range, ""),
            CqlStatement::Rest => within(ALL, rest, ""),
            CqlStatement::RestKeys => within(KEYS, rest, ""),
            CqlStatement::RangeBack => within(ALL, range, back),
            CqlStatement::RangeBackKeys => within(KEYS, range, back),
            CqlStatement::RestBack => within(ALL, rest, back),
            CqlStatement::RestBackKeys => within(KEYS, rest, back),
            CqlStatement::Ring => ring(ALL),
            CqlStatement::RingKeys => ring(KEYS),
            CqlStatement::Count => format!("SELECT count(h) FROM {table} WHERE p = ? AND {range}"),
            CqlStatement::CountRest => {
                format!("SELECT count(h) FROM {table} WHERE p = ? AND {rest}")
            }
            CqlStatement::PutNew => format!("{put} IF h = null"),
            CqlStatement::PutOver => format!("{put} IF h = ?"),
            CqlStatement::DeleteNone => {
                format!("DELETE FROM {table} WHERE p = ? AND c = ? IF h = null")
            }
            CqlStatement::Load => put,
            CqlStatement::Remove => format!("DELETE FROM {table} WHERE p = ? AND c = ?"),
            CqlStatement::RemoveStored => {
                format!("DELETE FROM {table} USING TIMESTAMP ? WHERE p = ? AND c = ?")
            }
            CqlStatement::DeleteRange => {
                format!("DELETE FROM {table} USING TIMESTAMP ? WHERE p = ? AND {range}")
            }
            CqlStatement::DeleteRest => {
                format!("DELETE FROM {table} USING TIMESTAMP ? WHERE p = ? AND {rest}")
            }
        }
    }

    fn is_conditional(self) -> bool {
        matches!(self, CqlStatement::PutNew | CqlStatement::PutOver | CqlStatement::DeleteNone)
    }

    /// This one, or the one without payloads.
    pub(crate) fn with(self, projection: Projection) -> Self {
        if projection == Projection::KeysAndValues {
            return self;
        }
        match self {
            CqlStatement::Rows => CqlStatement::RowsKeys,
            CqlStatement::Spread => CqlStatement::SpreadKeys,
            CqlStatement::Range => CqlStatement::RangeKeys,
            CqlStatement::Rest => CqlStatement::RestKeys,
            CqlStatement::RangeBack => CqlStatement::RangeBackKeys,
            CqlStatement::RestBack => CqlStatement::RestBackKeys,
            CqlStatement::Ring => CqlStatement::RingKeys,
            other => other,
        }
    }
}

/// What a table is before anything of it was read.
const ROW_BYTES: usize = 1_000;

/// A space and its table.
pub(crate) struct SpaceTable {
    info: SpaceInfo,
    name: String,
    statements: [OnceCell<PreparedStatement>; STATEMENTS],
    /// About how large its rows are: the mean of those read last.
    row_bytes: AtomicUsize,
}

impl SpaceTable {
    pub(crate) fn new(keyspace: &str, info: SpaceInfo) -> Self {
        Self {
            name: table_name(keyspace, info.id),
            info,
            statements: std::array::from_fn(|_| OnceCell::new()),
            row_bytes: AtomicUsize::new(ROW_BYTES),
        }
    }

    pub(crate) fn info(&self) -> &SpaceInfo {
        &self.info
    }

    /// Whether keys name their shard: entries of an index.
    pub(crate) fn is_shard_prefixed(&self) -> bool {
        self.info.shape.is_shard_prefixed()
    }

    pub(crate) fn id(&self) -> SpaceId {
        self.info.id
    }

    /// A statement, prepared when it is used first.
    pub(crate) async fn statement(
        &self,
        cluster: &Cluster,
        text: CqlStatement,
    ) -> Result<&PreparedStatement> {
        self.statements[text as usize]
            .get_or_try_init(|| async {
                let cql = text.cql(&self.name);
                match text.is_conditional() {
                    true => cluster.prepare_conditional(cql).await,
                    false => cluster.prepare(cql).await,
                }
            })
            .await
    }

    /// About how many bytes a row has, header included.
    pub(crate) fn row_bytes(&self) -> usize {
        self.row_bytes.load(Ordering::Relaxed)
    }

    /// Learns from rows that were read.
    pub(crate) fn learn(&self, rows: usize, bytes: usize) {
        if let Some(mean) = bytes.checked_div(rows) {
            self.row_bytes.store(mean.max(1), Ordering::Relaxed);
        }
    }

    /// The space as errors name it.
    pub(crate) fn display_name(&self) -> String {
        format!("space '{}'", self.info.name)
    }

    /// The length of the shard key of a key that is to be looked up or stored.
    ///
    /// # Errors
    /// `Invalid` for a key that is too short or too long.
    pub(crate) fn shard_key_len(&self, key: &[u8], key_bytes_max: usize) -> Result<usize> {
        if key.len() > key_bytes_max {
            return Err(self.over_limit("key", key.len(), key_bytes_max));
        }
        self.info.shape.shard_key_len(key).map_err(|error| error.at(self.display_name()))
    }

    /// Checks the length of a value.
    ///
    /// # Errors
    /// `Invalid` for one that is too long.
    pub(crate) fn check_value(&self, value: &[u8], value_bytes_max: usize) -> Result<()> {
        if value.len() > value_bytes_max {
            return Err(self.over_limit("value", value.len(), value_bytes_max));
        }
        Ok(())
    }

    #[cold]
    fn over_limit(&self, what: &str, bytes: usize, bytes_max: usize) -> Error {
        Error::invalid(format!(
            "{}: a {what} of {bytes} bytes is over the limit of {bytes_max}: make it shorter",
            self.display_name()
        ))
    }
}

/// The table of a space.
pub(crate) fn table_name(keyspace: &str, space: SpaceId) -> String {
    format!("{keyspace}.s_{:08x}", space.0)
}

#[cfg(test)]
mod tests {
    use tonnage_engine::{ErrorKind, KeyPart, KeyShape};

    use super::*;

    #[test]
    fn a_key_without_its_shard_key_or_over_the_limit_is_invalid() {
        let shape = KeyShape::new([KeyPart::Fixed(2)]);
        let table = SpaceTable::new("ks", SpaceInfo { id: SpaceId(42), name: "t".into(), shape });
        assert_eq!(table.name, "ks.s_0000002a");
        assert_eq!(table.shard_key_len(b"abc", 3).unwrap(), 2);
        for key in [&b"a"[..], b"abcd"] {
            assert_eq!(table.shard_key_len(key, 3).unwrap_err().kind(), ErrorKind::Invalid);
        }
    }
}
