//! Sends table definitions to a server, and rebuilds the schema of a table from its DESCRIBE.

use std::sync::Arc;

use serde_json::Value as Json;
use tonnage::{DdlOutcome, Error, Result, Store, TableDefinition, TableEntry};

use crate::client::Client;

impl Client {
    /// Carries out definitions: CREATE, ALTER and DROP, SHOW TABLES and DESCRIBE, parted by
    /// semicolons.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn define(&self, text: &str) -> Result<Vec<DdlOutcome>> {
        let answers = self.act("tonnage.Define", text.as_bytes().to_vec())?;
        answers
            .iter()
            .map(|answer| outcome_of(answer).ok_or_else(|| unreadable_definition(self)))
            .collect()
    }

    /// Makes a table.
    ///
    /// # Errors
    /// As [`Client::define`]; `Conflict` when there is one of its name, unless it `may_exist`.
    pub fn create_table(&self, definition: &TableDefinition, may_exist: bool) -> Result<()> {
        // A table in memory writes the statement, which has the parents that it needs.
        let copy = Store::open("memory:")?;
        let ends = definition.path.char_indices().filter(|(_, char)| *char == '.');
        for (end, _) in ends {
            let parent = self.describe(&definition.path[..end])?;
            copy.execute(&parent.schema.to_ddl())?;
        }
        copy.catalog().create_table(definition, true)?;
        let ddl = copy.table(&definition.path)?.schema().to_ddl();
        let lead = if may_exist { "CREATE TABLE IF NOT EXISTS " } else { "CREATE TABLE " };
        self.define(&ddl.replacen("CREATE TABLE ", lead, 1)).map(drop)
    }

    /// What there is to know of a table: its columns, its key, and how its rows are encoded.
    ///
    /// # Errors
    /// `NotFound` for a table that there is not.
    pub fn describe(&self, path: &str) -> Result<Arc<TableEntry>> {
        // The same definitions make the same table, here one without rows.
        let copy = Store::open("memory:")?;
        let ends = path.char_indices().filter(|(_, char)| *char == '.').map(|(end, _)| end);
        for end in ends.chain([path.len()]) {
            let asked = format!("DESCRIBE {}", quoted(&path[..end]));
            let Some(DdlOutcome::Description(ddl)) = self.define(&asked)?.pop() else {
                return Err(unreadable_definition(self));
            };
            copy.execute(&ddl)?;
        }
        Ok(copy.table(path)?.entry().clone())
    }
}

/// A path whose names may hold anything.
fn quoted(path: &str) -> String {
    let names = path.split('.').map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    names.collect::<Vec<_>>().join(".")
}

fn unreadable_definition(client: &Client) -> Error {
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
