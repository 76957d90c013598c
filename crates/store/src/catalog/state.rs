//! The state of all tables at one point in time.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use strsim::damerau_levenshtein;
use tonnage_engine::{Error, Result, SpaceId};

use super::entry::TableEntry;
use super::rows::StoredTable;
use crate::codec::Limits;
use crate::codec::{KeyClassifier, TableCodec};
use crate::index::{IndexCodec, IndexList, IndexSet, OpenIndex, StoredIndex};
use crate::schema::TableSchema;

/// The tables of a store as of the last statement of DDL. A statement changes the tables of one
/// space, so it costs the same however many others there are.
#[derive(Default)]
pub(super) struct CatalogState {
    /// By path in lower case.
    tables: BTreeMap<String, Arc<TableEntry>>,
    /// The indexes of each table, shared by all its entries, old and new.
    indexes: BTreeMap<(SpaceId, u32), Arc<IndexList>>,
    /// The stored rows of each space, the top-level table first.
    families: BTreeMap<SpaceId, Arc<Vec<StoredTable>>>,
}

impl CatalogState {
    /// The state that these rows make. Tables that `before` knows keep their lists of indexes.
    pub(super) fn new(
        stored: Vec<StoredTable>,
        limits: Limits,
        before: Option<&CatalogState>,
    ) -> Self {
        let mut families: BTreeMap<SpaceId, Vec<StoredTable>> = BTreeMap::new();
        for table in stored {
            families.entry(table.space).or_default().push(table);
        }
        let mut state = Self {
            indexes: before.map(|before| before.indexes.clone()).unwrap_or_default(),
            ..Self::default()
        };
        for (space, family) in families {
            state.put_family(space, family, limits);
        }
        state
    }

    /// Replaces the tables of one space. Those that are not among the new ones are dropped, and
    /// all handles of them know it at once.
    pub(super) fn replace_family(
        &mut self,
        space: SpaceId,
        family: Vec<StoredTable>,
        limits: Limits,
    ) {
        for table in self.families.remove(&space).iter().flat_map(|before| before.iter()) {
            self.tables.remove(&table.schema.path.to_ascii_lowercase());
            if !family.iter().any(|stays| stays.schema.table_id == table.schema.table_id) {
                self.drop_list((space, table.schema.table_id));
            }
        }
        self.put_family(space, family, limits);
    }

    /// Marks the tables as dropped that a newer state does not know.
    pub(super) fn drop_others(&mut self, newer: &CatalogState) {
        let lost: Vec<_> =
            self.indexes.keys().filter(|key| !newer.knows_table(**key)).copied().collect();
        lost.into_iter().for_each(|key| self.drop_list(key));
    }

    fn drop_list(&mut self, key: (SpaceId, u32)) {
        if let Some(list) = self.indexes.remove(&key) {
            list.drop_table();
        }
    }

    fn knows_table(&self, (space, table_id): (SpaceId, u32)) -> bool {
        let family = self.families.get(&space);
        family.is_some_and(|family| family.iter().any(|table| table.schema.table_id == table_id))
    }

    fn put_family(&mut self, space: SpaceId, mut family: Vec<StoredTable>, limits: Limits) {
        if family.is_empty() {
            return;
        }
        // A table has a greater number than the one above it, which was there first.
        family.sort_by_key(|table| table.schema.table_id);
        let schemas: Vec<_> = family.iter().map(|table| table.schema.clone()).collect();
        let classifier = Arc::new(KeyClassifier::new(&schemas));
        for (place, schema) in schemas.iter().enumerate() {
            let is_child = |path: &str| {
                path.rsplit_once('.')
                    .is_some_and(|(parent, _)| parent.eq_ignore_ascii_case(&schema.path))
            };
            let children = schemas
                .iter()
                .map(|child| &child.path)
                .filter(|path| is_child(path))
                .cloned()
                .collect();
            // Handles that were opened before this statement still read, whatever is written after
            // it.
            let before =
                self.indexes.get(&(space, schema.table_id)).map(|list| list.set().table.clone());
            let codec = Arc::new(TableCodec::after(before.as_deref(), schema.clone(), limits));
            let indexes = self.put_indexes(space, &family[place], &schemas[0], &codec, limits);
            let entry = TableEntry {
                schema: schema.clone(),
                codec,
                space,
                classifier: classifier.clone(),
                children,
                indexes,
            };
            self.tables.insert(schema.path.to_ascii_lowercase(), Arc::new(entry));
        }
        self.families.insert(space, Arc::new(family));
    }

    /// Brings the list of a table's indexes up to date, which every handle of the table sees at
    /// once.
    fn put_indexes(
        &mut self,
        space: SpaceId,
        table: &StoredTable,
        root: &TableSchema,
        codec: &Arc<TableCodec>,
        limits: Limits,
    ) -> Arc<IndexList> {
        let open = |stored: &StoredIndex| {
            let place = format!("index {} on {}", stored.name, table.schema.path);
            let columns = stored.resolve(&table.schema).ok()?;
            let codec = IndexCodec::new(place, columns, root.key_shape(), limits.key_bytes_max);
            Some(Arc::new(OpenIndex { stored: stored.clone(), codec }))
        };
        let set = IndexSet {
            table: codec.clone(),
            indexes: table.indexes.iter().filter_map(open).collect(),
        };
        let key = (space, table.schema.table_id);
        match self.indexes.get(&key) {
            Some(list) => list.replace(set),
            None => drop(self.indexes.insert(key, Arc::new(IndexList::new(set)))),
        }
        self.indexes[&key].clone()
    }

    /// The indexes of the tables of each space, by the number of their table.
    pub(super) fn index_lists(&self) -> BTreeMap<SpaceId, Vec<(u32, Vec<StoredIndex>)>> {
        let lists = |family: &Arc<Vec<StoredTable>>| {
            family.iter().map(|table| (table.schema.table_id, table.indexes.clone())).collect()
        };
        self.families.iter().map(|(space, family)| (*space, lists(family))).collect()
    }

    /// The spaces of all tables and indexes.
    pub(super) fn spaces(&self) -> HashSet<SpaceId> {
        let stored = self.families.values().flat_map(|family| family.iter());
        let indexes = stored.flat_map(|table| &table.indexes).map(StoredIndex::space);
        self.families.keys().copied().chain(indexes).collect()
    }

    /// The names of all top-level tables, in lower case.
    pub(super) fn root_names(&self) -> impl Iterator<Item = String> + '_ {
        self.tables.keys().filter(|path| !path.contains('.')).cloned()
    }

    pub(super) fn tables(&self) -> Vec<Arc<TableEntry>> {
        self.tables.values().cloned().collect()
    }

    /// The stored rows of a space, the top-level table first.
    pub(super) fn stored(&self, space: SpaceId) -> Vec<StoredTable> {
        self.families.get(&space).map_or_else(Vec::new, |family| family.to_vec())
    }

    pub(super) fn family(&self, space: SpaceId) -> Vec<Arc<TableEntry>> {
        self.stored(space).iter().filter_map(|table| self.find(&table.schema.path)).collect()
    }

    pub(super) fn find(&self, path: &str) -> Option<Arc<TableEntry>> {
        self.tables.get(path).or_else(|| self.tables.get(&path.to_ascii_lowercase())).cloned()
    }

    pub(super) fn table(&self, path: &str, tells_names: bool) -> Result<Arc<TableEntry>> {
        self.find(path).ok_or_else(|| {
            let others = if tells_names { self.suggestions(path) } else { String::new() };
            Error::not_found(format!("there is no table {path}{others}")).in_table(path)
        })
    }

    /// The tables that a caller may have meant whose table does not exist.
    #[cold]
    fn suggestions(&self, path: &str) -> String {
        // People read the message, and a store may have thousands of tables.
        const NAMES_MAX: usize = 20;
        let wanted = path.to_ascii_lowercase();
        let near = self
            .tables
            .iter()
            .filter(|(name, _)| is_similar(&wanted, name))
            .map(|(_, entry)| entry.schema.path.as_str())
            .collect::<Vec<_>>();
        let mut message = String::new();
        if !near.is_empty() {
            message.push_str(&format!("; did you mean {}?", near.join(" or ")));
        }
        let names: Vec<_> =
            self.tables.values().take(NAMES_MAX).map(|entry| entry.schema.path.as_str()).collect();
        match self.tables.len() {
            0 => message.push_str("; the store has no tables yet"),
            count if count > NAMES_MAX => message.push_str(&format!(
                "; the tables are {} and {} more",
                names.join(", "),
                count - NAMES_MAX
            )),
            _ => message.push_str(&format!("; the tables are {}", names.join(", "))),
        }
        message
    }
}

/// Whether someone who wrote one name may have meant the other: at most two letters differ or
/// change places, or one begins with the other.
fn is_similar(wanted: &str, name: &str) -> bool {
    let shorter = wanted.len().min(name.len());
    if shorter >= 3 && (wanted.starts_with(name) || name.starts_with(wanted)) {
        return true;
    }
    wanted.len().abs_diff(name.len()) <= 2
        && damerau_levenshtein(wanted, name) <= 2.min(shorter / 2)
}
