//! The ancestor and child tables whose rows a read or a delete includes.

use std::sync::Arc;

use tonnage_engine::{Error, FilterDecision, KeyFilter, Result, Slices};

use crate::catalog::{Catalog, TableEntry};
use crate::codec::{KeyClassifier, KeyOwner};

/// A table with those of its relatives whose rows are wanted too.
#[derive(Clone)]
pub(crate) struct Relatives {
    pub(crate) target: Arc<TableEntry>,
    /// Wanted ancestors, the highest first.
    pub(crate) ancestors: Vec<Arc<TableEntry>>,
    /// Wanted tables below the target, parents first.
    pub(crate) descendants: Vec<Arc<TableEntry>>,
}

impl Relatives {
    /// Finds the tables of these paths among the relatives of the target.
    pub(crate) fn find(
        catalog: &Catalog,
        target: Arc<TableEntry>,
        paths: &[String],
    ) -> Result<Self> {
        let (mut ancestors, mut descendants) = (Vec::new(), Vec::new());
        for path in paths {
            let entry = catalog.table(path)?;
            if is_below(&target.schema.path, &entry.schema.path) {
                ancestors.push(entry);
            } else if is_below(&entry.schema.path, &target.schema.path) {
                descendants.push(entry);
            } else {
                return Err(Error::invalid(format!(
                    "{} is neither an ancestor nor a child table of {}: only relatives come along",
                    entry.schema.path, target.schema.path
                )));
            }
        }
        for wanted in [&mut ancestors, &mut descendants] {
            wanted.sort_by(|a, b| (depth(a), &a.schema.path).cmp(&(depth(b), &b.schema.path)));
            wanted.dedup_by(|a, b| a.schema.path == b.schema.path);
        }
        Ok(Self { target, ancestors, descendants })
    }

    /// The table of each key, which is the target or a wanted table below it; one for all where
    /// there can be no other.
    pub(crate) fn owners(&self, keys: &Slices) -> Result<Vec<Arc<TableEntry>>> {
        if self.descendants.is_empty() {
            return Ok(vec![self.target.clone()]);
        }
        let owner = |key: &[u8]| {
            let owner = self.target.classifier.classify(key)?;
            let below = self
                .descendants
                .iter()
                .find(|entry| owner == KeyOwner::Table(entry.schema.table_id));
            Ok(below.unwrap_or(&self.target).clone())
        };
        keys.iter().map(owner).collect()
    }

    /// What takes the rows of other tables out of a scan. Every scan needs it: child tables, with
    /// their rows, may be created while it runs, and a classifier that does not know them says so
    /// of their keys.
    pub(crate) fn filter(&self) -> Arc<dyn KeyFilter> {
        Arc::new(TableFilter {
            classifier: self.target.classifier.clone(),
            target: self.target.schema.table_id,
            along: self.descendants.iter().map(|entry| entry.schema.table_id).collect(),
        })
    }
}

fn depth(entry: &TableEntry) -> usize {
    entry.schema.path.matches('.').count()
}

/// Whether the table `path` is below the table `above`.
fn is_below(path: &str, above: &str) -> bool {
    path.len() > above.len()
        && path.as_bytes()[above.len()] == b'.'
        && path[..above.len()].eq_ignore_ascii_case(above)
}

/// Lets the rows of the target count and those of wanted children come along.
struct TableFilter {
    classifier: Arc<KeyClassifier>,
    target: u32,
    along: Vec<u32>,
}

impl KeyFilter for TableFilter {
    fn decide(&self, key: &[u8]) -> FilterDecision {
        match self.classifier.classify(key) {
            Ok(KeyOwner::Table(table)) if table == self.target => FilterDecision::Count,
            Ok(KeyOwner::Table(table)) if self.along.contains(&table) => FilterDecision::Along,
            Ok(_) => FilterDecision::Skip,
            // A key that cannot be read must not vanish: the decoder meets it and says so.
            Err(_) => FilterDecision::Count,
        }
    }
}
