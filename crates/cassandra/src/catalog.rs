//! The engine's own table: what kind of store this is, and which spaces it has.
//!
//! ```text
//! CREATE TABLE tonnage (part text, name blob, d blob, PRIMARY KEY (part, name))
//! part 'store':   'format' (one byte), 'buckets', 'shards', 'next space', 'next writer' (four
//!                 bytes each), 'acks none' once something was stored so
//! part 'place':   'home' ([`crate::home`])
//! part 'spaces':  a row a space: its name, its number (four bytes) and the shape of its keys
//! ```
//!
//! Every write to it is on a condition, so several processes may change it at once.

use scylla::statement::prepared::PreparedStatement;
use scylla::value::CqlValue;
use tonnage_engine::{Deadline, Error, KeyShape, Result, SpaceId, SpaceInfo};

use crate::address::Address;
use crate::cluster::{Cluster, RetryBackoff, jitter, rows};
use crate::error::RequestFailure;
use crate::home;
use crate::table::table_name;

const WHAT: &str = "a row of the store's own table";
const STORE: &str = "store";
const SPACES: &str = "spaces";
const SINGLE_COPIES: &str = "acks none";

/// How many shards a new store has: over so many partitions an index spreads its entries.
const SHARDS: u32 = 16;

/// The newest format of a store that this engine writes and reads.
const FORMAT: u8 = 1;

/// The statements on the engine's own table.
pub(crate) struct KeyspaceCatalog {
    get: PreparedStatement,
    list: PreparedStatement,
    put_new: PreparedStatement,
    put_over: PreparedStatement,
    delete_over: PreparedStatement,
}

impl KeyspaceCatalog {
    /// Opens the store of a keyspace, and makes what is missing of it.
    ///
    /// # Errors
    /// `NotFound` for a keyspace that does not exist and must not be created; `Unsupported` for the
    /// store of a newer Tonnage.
    pub(crate) async fn open(cluster: &mut Cluster, address: &Address) -> Result<Self> {
        match address.create_if_missing {
            true => make_keyspace(cluster, address).await?,
            false => find_store(cluster).await?,
        }
        let table = format!("{}.tonnage", cluster.keyspace());
        cluster
            .change_schema(&format!(
                "CREATE TABLE IF NOT EXISTS {table} (part text, name blob, d blob, PRIMARY KEY (part, name)) WITH ID = '{}' AND comment = 'Tonnage: the spaces of this store'",
                new_table_id()
            ))
            .await?;
        let is_new = is_new(cluster, &table).await?;
        home::resolve(cluster, &table, is_new, address).await?;
        Self::prepare(cluster, &table).await
    }

    /// The statements, and the format of the store.
    async fn prepare(cluster: &Cluster, table: &str) -> Result<Self> {
        let condition = "WHERE part = ? AND name = ?";
        let mut get = cluster.prepare(format!("SELECT d FROM {table} {condition}")).await?;
        let mut list =
            cluster.prepare(format!("SELECT name, d FROM {table} WHERE part = ?")).await?;
        get.set_consistency(cluster.quorum_scope().serial());
        list.set_consistency(cluster.quorum_scope().serial());
        let conditional = |cql: String| cluster.prepare_conditional(cql);
        let catalog = Self {
            get,
            list,
            put_new: conditional(format!("UPDATE {table} SET d = ? {condition} IF d = null"))
                .await?,
            put_over: conditional(format!("UPDATE {table} SET d = ? {condition} IF d = ?")).await?,
            delete_over: conditional(format!("DELETE FROM {table} {condition} IF d = ?")).await?,
        };
        let format = catalog.get_or_put(cluster, "format", &[FORMAT]).await?;
        if format != [FORMAT] {
            return Err(Error::unsupported(format!(
                "the store in keyspace {} has format {format:?}, this Tonnage knows {FORMAT}: use a newer Tonnage",
                cluster.keyspace()
            )));
        }
        Ok(catalog)
    }

    /// How many buckets the store has: as many as are asked for, if it is new.
    pub(crate) async fn buckets(&self, cluster: &Cluster, asked: u32) -> Result<u32> {
        let stored = self.get_or_put(cluster, "buckets", &asked.to_be_bytes()).await?;
        number(&stored).filter(|buckets| *buckets > 0).ok_or_else(damaged)
    }

    /// How many shards the store has.
    pub(crate) async fn shards(&self, cluster: &Cluster) -> Result<u32> {
        let stored = self.get_or_put(cluster, "shards", &SHARDS.to_be_bytes()).await?;
        number(&stored).filter(|shards| *shards > 0).ok_or_else(damaged)
    }

    /// Notes that rows were stored that perhaps only one copy has.
    pub(crate) async fn note_single_copies(&self, cluster: &Cluster) -> Result<()> {
        self.get_or_put(cluster, SINGLE_COPIES, &[1]).await.map(drop)
    }

    /// Whether there may be rows that only one copy has.
    pub(crate) async fn has_single_copies(&self, cluster: &Cluster) -> Result<bool> {
        Ok(self.read(cluster, STORE, SINGLE_COPIES.as_bytes()).await?.is_some())
    }

    /// A number for this process.
    pub(crate) async fn next_writer(&self, cluster: &Cluster) -> Result<u32> {
        self.next(cluster, "next writer").await
    }

    /// All spaces, by ascending number.
    pub(crate) async fn spaces(&self, cluster: &Cluster) -> Result<Vec<SpaceInfo>> {
        let what = "the list of spaces";
        let answer = cluster.ask(what, &self.list, (SPACES,)).await?;
        let mut spaces = Vec::new();
        for row in rows::<(&[u8], Option<&[u8]>)>(what, &answer)? {
            if let (name, Some(bytes)) = row? {
                spaces.push(read_space(name, bytes)?);
            }
        }
        spaces.sort_by_key(|space| space.id);
        Ok(spaces)
    }

    /// Makes a space and its table.
    ///
    /// # Errors
    /// `Conflict` when there is a space of that name.
    pub(crate) async fn create(
        &self,
        cluster: &Cluster,
        name: &str,
        shape: &KeyShape,
    ) -> Result<SpaceInfo> {
        if name.is_empty() {
            return Err(Error::invalid("a space has no name: give it one"));
        }
        if self.read(cluster, SPACES, name.as_bytes()).await?.is_some() {
            return Err(exists(name));
        }
        // The table is created before its row: a space that is listed always has one.
        let id = SpaceId(self.next(cluster, "next space").await?);
        let table = table_name(cluster.keyspace(), id);
        let comment = name.replace('\'', "''");
        cluster
            .change_schema(&format!(
                "CREATE TABLE IF NOT EXISTS {table} (p blob, c blob, h blob, d blob, PRIMARY KEY (p, c)) WITH ID = '{}' AND comment = '{comment}'",
                new_table_id()
            ))
            .await?;
        let bytes = [&id.0.to_be_bytes()[..], &shape.to_bytes()].concat();
        if self.put(cluster, SPACES, name.as_bytes(), None, &bytes).await? {
            return Ok(SpaceInfo { id, name: name.to_owned(), shape: shape.clone() });
        }
        // Another process was faster with this name. The table has a number of its own, so it can
        // go.
        cluster.change_schema(&format!("DROP TABLE IF EXISTS {table}")).await?;
        Err(exists(name))
    }

    /// Drops a space: first its table, then its row. So a space whose drop was cut short in between
    /// is listed, and can be dropped again; a table without a row would stay for ever.
    pub(crate) async fn remove(&self, cluster: &Cluster, space: &SpaceInfo) -> Result<()> {
        let table = table_name(cluster.keyspace(), space.id);
        cluster.change_schema(&format!("DROP TABLE IF EXISTS {table}")).await?;
        let bytes = [&space.id.0.to_be_bytes()[..], &space.shape.to_bytes()].concat();
        self.delete(cluster, SPACES, space.name.as_bytes(), &bytes).await
    }

    /// What is stored under a name; what is given, if that is nothing yet.
    async fn get_or_put(&self, cluster: &Cluster, name: &str, first: &[u8]) -> Result<Vec<u8>> {
        if let Some(stored) = self.read(cluster, STORE, name.as_bytes()).await? {
            return Ok(stored);
        }
        self.put(cluster, STORE, name.as_bytes(), None, first).await?;
        self.read(cluster, STORE, name.as_bytes()).await?.ok_or_else(damaged)
    }

    /// Draws from a counter. A number whose draw got no answer is left out.
    async fn next(&self, cluster: &Cluster, name: &str) -> Result<u32> {
        let mut tries = RetryBackoff::new();
        loop {
            let stored = self.read(cluster, STORE, name.as_bytes()).await?;
            let drawn = match &stored {
                Some(stored) => number(stored).ok_or_else(damaged)?,
                None => 1,
            };
            let next = drawn.checked_add(1).ok_or_else(|| {
                Error::exhausted(format!("all numbers of this store are used up: {name}"))
            })?;
            let bytes = next.to_be_bytes();
            match self.put_once(cluster, STORE, name.as_bytes(), stored.as_deref(), &bytes).await {
                Ok(true) => return Ok(drawn),
                Ok(false) | Err(RequestFailure::InDoubt(_)) if tries.wait_again().await => {}
                Ok(false) => {
                    return Err(Error::unavailable(
                        "many processes change the store at once: try again",
                    ));
                }
                Err(failure) => return Err(failure.into_error()),
            }
        }
    }

    async fn read(&self, cluster: &Cluster, part: &str, name: &[u8]) -> Result<Option<Vec<u8>>> {
        let answer = cluster.ask(WHAT, &self.get, (part, name)).await?;
        match rows::<(Option<Vec<u8>>,)>(WHAT, &answer)?.next() {
            Some(row) => row.map(|(bytes,)| bytes),
            None => Ok(None),
        }
    }

    /// Stores a row that no other process stores, if the current one is as expected. Answers
    /// whether it is there now.
    async fn put(
        &self,
        cluster: &Cluster,
        part: &str,
        name: &[u8],
        expected: Option<&[u8]>,
        bytes: &[u8],
    ) -> Result<bool> {
        let mut tries = RetryBackoff::new();
        loop {
            match self.put_once(cluster, part, name, expected, bytes).await {
                Ok(true) => return Ok(true),
                // Perhaps for an earlier try, which was executed after the read that followed it.
                Ok(false) if tries.wait_again().await => {}
                Ok(false) => return Ok(false),
                Err(failure) => tries.wait_after(failure).await?,
            }
            let stored = self.read(cluster, part, name).await?;
            if stored.as_deref() != expected {
                return Ok(stored.as_deref() == Some(bytes));
            }
        }
    }

    async fn put_once(
        &self,
        cluster: &Cluster,
        part: &str,
        name: &[u8],
        expected: Option<&[u8]>,
        bytes: &[u8],
    ) -> std::result::Result<bool, RequestFailure> {
        let mut values = vec![blob(bytes), text(part), blob(name)];
        values.extend(expected.map(blob));
        let statement = if expected.is_some() { &self.put_over } else { &self.put_new };
        cluster.decide(WHAT, statement, &values, Deadline::NONE).await
    }

    async fn delete(
        &self,
        cluster: &Cluster,
        part: &str,
        name: &[u8],
        expected: &[u8],
    ) -> Result<()> {
        let mut tries = RetryBackoff::new();
        loop {
            let values = [text(part), blob(name), blob(expected)];
            match cluster.decide(WHAT, &self.delete_over, &values, Deadline::NONE).await {
                Ok(_) => return Ok(()),
                Err(failure) => tries.wait_after(failure).await?,
            }
        }
    }
}

/// # Errors
/// `NotFound` where the keyspace holds no store.
async fn find_store(cluster: &Cluster) -> Result<()> {
    let keyspace = cluster.keyspace();
    let find = "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = 'tonnage'";
    let find = cluster.prepare(find.to_owned()).await?;
    let answer = cluster.ask("the list of tables", &find, (keyspace,)).await?;
    match answer.rows_num() {
        0 => Err(Error::not_found(format!(
            "there is no store in keyspace '{keyspace}': make one by loading into it"
        ))),
        _ => Ok(()),
    }
}

/// Whether the store has no format yet, as any copy tells.
async fn is_new(cluster: &Cluster, table: &str) -> Result<bool> {
    let what = "the format of a store";
    let find = format!("SELECT d FROM {table} WHERE part = ? AND name = ?");
    let find = cluster.prepare(find).await?;
    let values = (STORE, &b"format"[..]);
    let answer = cluster.ask_at(cluster.quorum_scope().one(), what, &find, values).await?;
    Ok(answer.rows_num() == 0)
}

async fn make_keyspace(cluster: &Cluster, address: &Address) -> Result<()> {
    let keyspace = cluster.keyspace();
    let what = "the list of keyspaces";
    let find = "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?";
    let find = cluster.prepare(find.to_owned()).await?;
    let answer = cluster.ask(what, &find, (keyspace,)).await?;
    if answer.rows_num() > 0 {
        return Ok(());
    }
    let Some(replication) = &address.replication else {
        return Err(Error::not_found(format!(
            "there is no keyspace '{keyspace}': make it, or add ?create=FACTOR to the address"
        )));
    };
    let replication = replication.cql(address.data_center.as_deref());
    cluster
        .change_schema(&format!(
            "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {replication}"
        ))
        .await
}

/// The number by which the cluster knows a new table. A statement that makes one may be sent twice,
/// to two nodes. Without a number in it, each of them would make a table of its own under the same
/// name, and later one of the two would go with all its rows.
fn new_table_id() -> String {
    // What tells that it is a random one: version 4, variant 1.
    const KIND: u128 = (0b0100 << 76) | (0b10 << 62);
    const KIND_BITS: u128 = (0b1111 << 76) | (0b11 << 62);
    let random = (u128::from(jitter()) << 64) | u128::from(jitter());
    let id = (random & !KIND_BITS) | KIND;
    let part = |bits: u32, digits: u32| (id >> bits) & ((1_u128 << (4 * digits)) - 1);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        part(96, 8),
        part(80, 4),
        part(64, 4),
        part(48, 4),
        part(0, 12)
    )
}

fn blob(bytes: &[u8]) -> CqlValue {
    CqlValue::Blob(bytes.to_vec())
}

fn text(text: &str) -> CqlValue {
    CqlValue::Text(text.to_owned())
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

fn read_space(name: &[u8], bytes: &[u8]) -> Result<SpaceInfo> {
    let (id, shape) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
    let name = std::str::from_utf8(name).map_err(|_| damaged())?;
    Ok(SpaceInfo {
        id: SpaceId(u32::from_be_bytes(*id)),
        name: name.to_owned(),
        shape: KeyShape::from_bytes(shape)?,
    })
}

#[cold]
fn exists(name: &str) -> Error {
    Error::conflict(format!("a space named '{name}' exists: drop it first or choose another name"))
}

#[cold]
fn damaged() -> Error {
    Error::corruption("table 'tonnage' of the keyspace cannot be read: restore it from a copy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_has_a_random_number_of_its_own() {
        let ids: Vec<String> = (0..100).map(|_| new_table_id()).collect();
        for id in &ids {
            let parts: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
            assert!(id[14..].starts_with('4') && "89ab".contains(&id[19..20]), "{id}");
        }
        let different: std::collections::HashSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), ids.len());
    }
}
