//! Access paths through a table, and the choice of one through its primary key.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use tonnage::{FieldRange, Result, TableSchema};

use super::condition::{ColumnCondition, ColumnDomain};
use super::domains::{RangeText, column_domains, comparison_error, domain_range};
use super::{IndexPath, SqlTable, value_of};

/// The most keys that lists of several columns may multiply to.
const KEYS_MAX: usize = 1 << 22;

/// Which part of a table is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AccessPath {
    /// Nothing: no row can match.
    Nothing,
    /// All rows.
    All,
    /// The rows of these whole or partial keys.
    Keys {
        /// The leading key columns in key order; the keys ascend and none comes twice.
        keys: RecordBatch,
        /// For each column of the keys whether it has one value only.
        constant: Vec<bool>,
        /// A range on the key column that follows.
        range: Option<FieldRange>,
    },
    /// The rows of a range of the first key column, where rows are kept in the order of the key.
    Range {
        range: FieldRange,
        /// About how many they are at most.
        rows: u64,
    },
    /// The rows that entries of a secondary index name.
    Index(IndexPath),
}

impl AccessPath {
    /// About how many rows of a table it leads to at most.
    pub(crate) fn rows_estimate(&self, table: &SqlTable) -> Option<u64> {
        match self {
            Self::Nothing => Some(0),
            Self::All => table.rows_estimate,
            Self::Range { rows, .. } => Some(*rows),
            Self::Index(path) => Some(path.entries()),
            Self::Keys { keys, .. } if keys.num_columns() == table.schema().key.len() => {
                Some(keys.num_rows() as u64)
            }
            // How many rows a partial key has is anybody's guess.
            Self::Keys { keys, .. } => {
                let guess = keys.num_rows() as u64 * 100;
                Some(table.rows_estimate.map_or(guess, |all| all.min(guess)))
            }
        }
    }
}

/// A path, and which of the conditions it answers by itself.
pub(crate) struct PathChoice {
    pub(crate) path: AccessPath,
    pub(crate) answered: Vec<bool>,
}

/// Finds the path that answers the most.
pub(crate) fn choose_access_path(
    table: &SqlTable,
    conditions: &[ColumnCondition],
) -> Result<PathChoice> {
    let schema = table.schema().as_ref();
    let domains = column_domains(schema, conditions).map_err(comparison_error)?;
    // Conditions that exclude each other end the search here: `key_combinations` divides by the
    // number of values, which must not be zero.
    for domain in domains.iter().flatten() {
        if domain.is_impossible().map_err(comparison_error)? {
            return Ok(PathChoice {
                path: AccessPath::Nothing,
                answered: vec![true; conditions.len()],
            });
        }
    }
    let prefix = key_prefix(schema, &domains);
    // A bulk get needs the whole shard key. With less of it a range of the first column is left.
    if prefix.len() < schema.shard_key_len {
        let is_answered = |condition: &ColumnCondition| {
            condition.is_decided_by_keys(schema) && schema.key.first() == Some(&condition.column)
        };
        return Ok(match first_column_range(table, &domains)? {
            Some(path) => {
                PathChoice { path, answered: conditions.iter().map(is_answered).collect() }
            }
            None => PathChoice { path: AccessPath::All, answered: vec![false; conditions.len()] },
        });
    }
    let range = match schema.key.get(prefix.len()) {
        Some(column) => domain_range(schema, *column, domains[*column].as_ref())?,
        None => None,
    };
    let ranged = range.is_some().then(|| schema.key[prefix.len()]);
    let is_answered =
        |column: usize| schema.key[..prefix.len()].contains(&column) || ranged == Some(column);
    let answered = conditions
        .iter()
        .map(|condition| condition.is_decided_by_keys(schema) && is_answered(condition.column))
        .collect();
    let constant = prefix.iter().map(|values| values.len() == 1).collect();
    Ok(PathChoice {
        path: AccessPath::Keys {
            keys: key_combinations(schema, &prefix).map_err(comparison_error)?,
            constant,
            range,
        },
        answered,
    })
}

/// The range of the first key column, in a store that keeps the order of keys.
fn first_column_range(
    table: &SqlTable,
    domains: &[Option<ColumnDomain>],
) -> Result<Option<AccessPath>> {
    let schema = table.schema().as_ref();
    let first = schema.key.first().filter(|_| table.total_order);
    let Some((first, Some(domain))) = first.map(|first| (*first, &domains[*first])) else {
        return Ok(None);
    };
    let range = match &domain.values {
        // A part of a shard key of several columns.
        Some(values) if values.len() == 1 => {
            let end = Some((value_of(values.as_ref())?, true));
            let column = schema.columns[first].name.clone();
            Some(FieldRange { column, low: end.clone(), high: end })
        }
        Some(_) => None,
        None => domain_range(schema, first, Some(domain))?,
    };
    let Some(range) = range.filter(|range| range.low.is_some() || range.high.is_some()) else {
        return Ok(None);
    };
    let rows = table.table.rows_estimate_in(&range)?;
    Ok(Some(AccessPath::Range { range, rows }))
}

/// The values of the leading key columns that have such.
fn key_prefix(schema: &TableSchema, domains: &[Option<ColumnDomain>]) -> Vec<ArrayRef> {
    let (mut prefix, mut count) = (Vec::new(), 1_usize);
    for column in &schema.key {
        let Some(values) = domains[*column].as_ref().and_then(|domain| domain.values.clone())
        else {
            break;
        };
        count = count.saturating_mul(values.len());
        if count > KEYS_MAX {
            break;
        }
        prefix.push(values);
    }
    prefix
}

/// Every combination of the values, the last column changing fastest.
fn key_combinations(
    schema: &TableSchema,
    prefix: &[ArrayRef],
) -> std::result::Result<RecordBatch, ArrowError> {
    let total: usize = prefix.iter().map(|values| values.len()).product();
    let (mut repeats, mut arrays, mut fields) = (total, Vec::new(), Vec::new());
    for (values, column) in prefix.iter().zip(schema.key_columns()) {
        repeats /= values.len();
        let expanded = if values.len() == total {
            values.clone()
        } else {
            let rows = (0..total).map(|row| (row / repeats % values.len()) as u32);
            take(values, &UInt32Array::from_iter_values(rows), None)?
        };
        arrays.push(expanded);
        fields.push(Field::new(&column.name, values.data_type().clone(), true));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

impl AccessPath {
    /// The path as EXPLAIN shows it.
    pub(crate) fn describe(&self, schema: &TableSchema) -> String {
        match self {
            AccessPath::Nothing => "nothing, no row can match".to_owned(),
            AccessPath::All => "full scan".to_owned(),
            AccessPath::Index(path) => path.describe(),
            AccessPath::Range { range, .. } => format!("range read with {}", RangeText(range)),
            AccessPath::Keys { keys, range, .. } => {
                let count = keys.num_rows();
                let plural = if count == 1 { "" } else { "s" };
                if keys.num_columns() == schema.key.len() {
                    return format!("bulk get of {count} key{plural}");
                }
                let names: Vec<_> =
                    keys.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
                let range = range
                    .as_ref()
                    .map(|range| format!(" with {}", RangeText(range)))
                    .unwrap_or_default();
                format!("range read of {count} partial key{plural} ({}){range}", names.join(", "))
            }
        }
    }
}
