//! The tables that a statement touches, as each kind of statement declares them.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{self, ObjectName, Query, SetExpr, TableFactor, Visit};
use tonnage::Error;

use super::given_names::GivenNames;
use crate::catalog::{INFORMATION_SCHEMA, path_of_parts};
use crate::text::{Looker, folded, walk};

/// What a statement does to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Rows are read.
    Read,
    /// The table is described: its columns and its key, none of its rows.
    Describe,
    /// Rows are put in.
    Insert,
    /// Rows are changed.
    Update,
    /// Rows are deleted.
    Delete,
    /// The table is created, altered, dropped or indexed.
    Define,
}

/// A table with what is done to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableAccess {
    /// The path of the table, in lower case; it may name none.
    pub table: String,
    /// What is done to it.
    pub access: Access,
}

/// What a statement declares. One that touches no table says why, so that a kind which declares
/// nothing is not taken for one that needs no grant.
pub(crate) enum Accesses {
    /// These tables; none for a query such as `SELECT 1`.
    Tables(TableAccesses),
    /// What is the session's own. A session that is shared refuses it.
    Session,
    /// What everybody may know.
    Public,
}

/// Tables with what is done to each, in the order in which a statement comes to them.
#[derive(Default)]
pub(crate) struct TableAccesses(Vec<TableAccess>);

impl TableAccesses {
    /// Notes what is done to the table of a path.
    pub(crate) fn note(&mut self, path: &str, access: Access) {
        self.0.push(TableAccess { table: path.to_ascii_lowercase(), access });
    }

    /// Notes a read of a table that lists all tables.
    pub(crate) fn note_information(&mut self, name: &str) {
        self.note(&format!("{INFORMATION_SCHEMA}.{name}"), Access::Read);
    }

    /// Notes every name at a position of a table.
    pub(crate) fn read(&mut self, parsed: &impl Visit) {
        let _ = walk(parsed, &mut Relations { found: self, is_function: false, given: None });
    }

    /// What a query reads. The planner alone resolves its names, so what WITH gives is not a table;
    /// a change finds its own table whatever WITH gives.
    pub(crate) fn of_query(parsed: &impl Visit) -> Self {
        let mut found = Self::default();
        let given = Some(GivenNames::default());
        let _ = walk(parsed, &mut Relations { found: &mut found, is_function: false, given });
        found
    }

    pub(crate) fn into_vec(self) -> Vec<TableAccess> {
        self.0
    }
}

/// Finds the names at positions of tables.
struct Relations<'a> {
    found: &'a mut TableAccesses,
    /// Whether the next name is that of a function that gives rows.
    is_function: bool,
    /// The names of WITH, which mean no table; none if all count as tables.
    given: Option<GivenNames>,
}

impl Looker for Relations<'_> {
    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        self.is_function = matches!(factor, TableFactor::Table { args: Some(_), .. });
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<Error> {
        let is_function = std::mem::take(&mut self.is_function);
        let is_given = self.given.as_ref().is_some_and(|given| given.is_given(name));
        if !is_function && !is_given {
            self.found.note(&path_of_parts(&parts_of(name)), Access::Read);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        tables_of(&query.body, self.found);
        if let Some(given) = &mut self.given {
            given.enter(query);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        if let Some(given) = &mut self.given {
            given.leave(query);
        }
        ControlFlow::Continue(())
    }
}

/// `TABLE t` names its table without a relation.
fn tables_of(body: &SetExpr, found: &mut TableAccesses) {
    match body {
        SetExpr::Table(table) => {
            let parts = [&table.schema_name, &table.table_name];
            let parts: Vec<String> = parts.into_iter().flatten().cloned().collect();
            found.note(&path_of_parts(&parts), Access::Read);
        }
        SetExpr::SetOperation { left, right, .. } => {
            tables_of(left, found);
            tables_of(right, found);
        }
        _ => {}
    }
}

/// The parts of a name as the planner takes them.
fn parts_of(name: &ObjectName) -> Vec<String> {
    name.0.iter().filter_map(ast::ObjectNamePart::as_ident).map(folded).collect()
}
