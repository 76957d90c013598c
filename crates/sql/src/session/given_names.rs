//! The names of WITH that a part of a query sees.

use datafusion::sql::sqlparser::ast::{ObjectName, Query};

use crate::text::folded;

/// The names of queries of WITH, as a walk has found them so far.
///
/// Where it is unsure, a name is not one of WITH. The query of a recursive table sees itself in
/// one part and a table of its name in the other, so its name is given after it alone, as that of
/// any other.
#[derive(Default)]
pub(crate) struct GivenNames {
    /// The queries around, the innermost last.
    around: Vec<OpenQuery>,
}

/// A query that the walk is in.
struct OpenQuery {
    /// The queries of its WITH that the walk has not left, and their names.
    with: Vec<(*const Query, String)>,
    /// The names of those that it has left.
    given: Vec<String>,
}

impl GivenNames {
    /// Comes to a query.
    pub(crate) fn enter(&mut self, query: &Query) {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        let with = tables
            .map(|table| (std::ptr::from_ref(table.query.as_ref()), folded(&table.alias.name)))
            .collect();
        self.around.push(OpenQuery { with, given: Vec::new() });
    }

    /// Leaves a query. One of WITH is seen by what follows it.
    pub(crate) fn leave(&mut self, query: &Query) {
        self.around.pop();
        let Some(outer) = self.around.last_mut() else { return };
        if let Some(at) = outer.with.iter().position(|(own, _)| std::ptr::eq(*own, query)) {
            let (_, name) = outer.with.swap_remove(at);
            outer.given.push(name);
        }
    }

    /// Whether a name means a query here. One with a schema before it means a table.
    pub(crate) fn is_given(&self, name: &ObjectName) -> bool {
        let [part] = name.0.as_slice() else { return false };
        let Some(name) = part.as_ident().map(folded) else { return false };
        self.around.iter().any(|query| query.given.contains(&name))
    }
}
