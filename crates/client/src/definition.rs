//! Sends table definitions to a server, and rebuilds the schema of a table from its DESCRIBE.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value as Json;
use tonnage::{DdlOutcome, Error, Result, Store, TableDefinition, TableEntry};

use crate::store::RemoteStore;

impl RemoteStore {
    /// Carries out definitions: CREATE, ALTER and DROP, SHOW TABLES and DESCRIBE, separated by
    /// semicolons.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn execute(&self, text: &str) -> Result<Vec<DdlOutcome>> {
        let answers = self.act("tonnage.Define", text.as_bytes().to_vec())?;
        answers
            .iter()
            .map(|answer| outcome_of(answer).ok_or_else(|| unreadable_definition(self)))
            .collect()
    }

    /// Makes a table, as [`tonnage::Catalog::create_table`] does.
    ///
    /// # Errors
    /// As [`RemoteStore::execute`]; `Conflict` when there is one of its name, unless it `may_exist`.
    pub fn create_table(&self, definition: &TableDefinition, may_exist: bool) -> Result<()> {
        // A table in memory writes the statement, which has the parents that it needs.
        let copy = Store::open("memory:")?;
        if let Some((parent, _)) = definition.path.rsplit_once('.') {
            self.copy_tables(&copy, &[parent])?;
        }
        copy.catalog().create_table(definition, true)?;
        let ddl = copy.table(&definition.path)?.schema().to_ddl();
        let lead = if may_exist { "CREATE TABLE IF NOT EXISTS " } else { "CREATE TABLE " };
        self.execute(&ddl.replacen("CREATE TABLE ", lead, 1)).map(drop)
    }

    /// Drops a table, as [`tonnage::Catalog::drop_table`] does.
    ///
    /// # Errors
    /// As [`RemoteStore::execute`]; `NotFound` for a table that there is not, unless it `may_miss`.
    pub fn drop_table(&self, path: &str, may_miss: bool) -> Result<()> {
        let lead = if may_miss { "DROP TABLE IF EXISTS" } else { "DROP TABLE" };
        self.execute(&format!("{lead} {}", quoted(path))).map(drop)
    }

    /// What there is to know of a table: its columns, its key, and how its rows are encoded.
    pub(crate) fn describe(&self, path: &str) -> Result<Arc<TableEntry>> {
        let copy = Store::open("memory:")?;
        self.copy_tables(&copy, &[path])?;
        Ok(copy.table(path)?.entry().clone())
    }

    /// Makes tables, and those above them, in a store in memory, by one call. The same definitions
    /// make the same tables, here without rows.
    fn copy_tables(&self, copy: &Store, paths: &[&str]) -> Result<()> {
        let ends = |path: &str| path.match_indices('.').map(|(end, _)| end).collect::<Vec<_>>();
        let above = paths.iter().flat_map(|path| {
            ends(path).into_iter().chain([path.len()]).map(move |end| &path[..end])
        });
        // Parents come before their children, each once.
        let all: BTreeSet<&str> = above.collect();
        let asked = all.iter().map(|path| format!("DESCRIBE {};", quoted(path)));
        let outcomes = self.execute(&asked.collect::<String>())?;
        for (path, outcome) in all.iter().zip(outcomes) {
            let DdlOutcome::Description(ddl) = outcome else {
                return Err(unreadable_definition(self));
            };
            // Names match whatever their case, so a table may be among the paths twice.
            if copy.known_table(path).is_none() {
                copy.execute(&ddl)?;
            }
        }
        Ok(())
    }

    /// What there is to know of tables, by their paths; of each an error of its own.
    pub(crate) fn describe_each(&self, paths: &[&str]) -> Vec<Result<Arc<TableEntry>>> {
        if paths.is_empty() {
            return Vec::new();
        }
        let together = Store::open("memory:").and_then(|copy| {
            self.copy_tables(&copy, paths)?;
            paths.iter().map(|path| Ok(copy.table(path)?.entry().clone())).collect()
        });
        // One that there is not fails the call for all.
        match together {
            Ok(entries) => Vec::into_iter(entries).map(Ok).collect(),
            Err(_) => paths.iter().map(|path| self.describe(path)).collect(),
        }
    }
}

/// A path whose names may hold anything.
pub(crate) fn quoted(path: &str) -> String {
    let names = path.split('.').map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    names.collect::<Vec<_>>().join(".")
}

fn unreadable_definition(client: &RemoteStore) -> Error {
    let server = client.server();
    Error::internal(format!("{server}: the answer to a definition is of another version"))
}

pub(crate) fn outcome_of(answer: &[u8]) -> Option<DdlOutcome> {
    let answer: Json = serde_json::from_slice(answer).ok()?;
    // An outcome has one member, named after its kind.
    let (name, told) = answer.as_object()?.iter().next()?;
    let text = |member: &str| Some(told.get(member)?.as_str()?.to_owned());
    let flag = |member: &str| told.get(member)?.as_bool();
    // The server writes these names in `flight/outcome.rs`: both sides get new kinds of outcomes.
    Some(match name.as_str() {
        "created" => DdlOutcome::Created { table: text("table")?, new: flag("new")? },
        "dropped" => DdlOutcome::Dropped { table: text("table")?, existed: flag("existed")? },
        "altered" => DdlOutcome::Altered { table: text("table")? },
        "created_index" => DdlOutcome::CreatedIndex {
            index: text("index")?,
            table: text("table")?,
            new: flag("new")?,
        },
        "dropped_index" => DdlOutcome::DroppedIndex {
            index: text("index")?,
            table: text("table")?,
            existed: flag("existed")?,
        },
        "tables" => {
            let names = told.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned()));
            DdlOutcome::Tables(names.collect::<Option<_>>()?)
        }
        "description" => DdlOutcome::Description(told.as_str()?.to_owned()),
        "told" => DdlOutcome::Message(told.as_str()?.to_owned()),
        _ => return None,
    })
}
