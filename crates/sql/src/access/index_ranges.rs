//! The domains of columns and JSON paths as ranges of an index.

use tonnage::{ColumnType, FieldRange, Index, IndexRange, Result, Value};

use super::condition::ColumnDomain;
use super::domains::domain_range;
use super::geo_condition::{self, may_be_points};
use super::index_conditions::IndexConditions;
use super::json_path::{IndexCells, JsonPathCondition, cells_of};
use super::{SqlTable, value_of};

/// The most ranges that lists may multiply to.
const RANGES_MAX: usize = 1 << 16;

/// The ranges of an index that hold every row within the domains, and how many columns have
/// values in them.
pub(super) fn ranges_of(
    table: &SqlTable,
    index: &Index,
    domains: &[Option<ColumnDomain>],
    conditions: IndexConditions<'_>,
) -> Result<Option<(Vec<IndexRange>, usize)>> {
    let mut ranges = vec![IndexRange::default()];
    let mut values = 0;
    for place in 0..index.columns().len() {
        let Some(cells) = cells_of_column(table, index, place, domains, conditions)? else { break };
        if ranges.len().saturating_mul(cells.len()) > RANGES_MAX {
            break;
        }
        ranges = ranges
            .iter()
            .flat_map(|range| cells.iter().map(|cell| with_cell(range, cell)))
            .collect();
        if cells.iter().any(|cell| matches!(cell, IndexCells::Range(_))) {
            return Ok(Some((ranges, values)));
        }
        values += 1;
    }
    Ok((values > 0).then_some((ranges, values)))
}

fn with_cell(range: &IndexRange, cell: &IndexCells) -> IndexRange {
    let mut range = range.clone();
    match cell {
        IndexCells::Point(value) => range.prefix.push(value.clone()),
        IndexCells::Range(field) => range.range = Some(field.clone()),
    }
    range
}

/// The cells of one column of an index that may be within its domain.
fn cells_of_column(
    table: &SqlTable,
    index: &Index,
    place: usize,
    domains: &[Option<ColumnDomain>],
    conditions: IndexConditions<'_>,
) -> Result<Option<Vec<IndexCells>>> {
    let indexed = &index.columns()[place];
    let Some(column) = table.schema().column_index(&indexed.column) else { return Ok(None) };
    // Conditions on what a function gives are not looked for.
    if indexed.function.is_some() {
        return Ok(None);
    }
    if !indexed.path.is_empty() {
        // Conditions on places read documents.
        if table.schema().columns[column].column_type != ColumnType::Json {
            return Ok(None);
        }
        let is_here = |condition: &&JsonPathCondition| {
            condition.column == column && indexed.is_place(&condition.path)
        };
        let here: Vec<_> = conditions.places.iter().filter(is_here).collect();
        return Ok(cells_of(&here, &indexed.to_string()));
    }
    if let Some(cells) = &indexed.cells {
        let behind = || cells_of_column(table, index, place + 1, domains, conditions);
        let is_last =
            !may_be_points(cells) || place + 1 == index.columns().len() || behind()?.is_none();
        return Ok(geo_condition::cells_of(
            table.schema(),
            indexed,
            conditions.columns,
            conditions.regions,
            is_last,
        ));
    }
    let Some(domain) = &domains[column] else { return Ok(None) };
    if domain.is_null {
        // An index has entries for NULL, so IS NULL is a point in it.
        return Ok(Some(vec![IndexCells::Point(Value::Null)]));
    }
    let Some(values) = &domain.values else {
        // What is not a number comes first or last in SQL by its sign, and last in an index: only
        // between two ends there is none.
        let is_floating = matches!(
            table.schema().columns[column].column_type,
            ColumnType::Float | ColumnType::Double
        );
        if is_floating && (domain.low.is_none() || domain.high.is_none()) {
            return Ok(None);
        }
        let range = domain_range(table.schema(), column, Some(domain))?;
        return Ok(range.map(|range| {
            vec![IndexCells::Range(FieldRange { column: indexed.to_string(), ..range })]
        }));
    };
    // `ranges_of` would drop so long a list: it is not taken apart first.
    if values.len() > RANGES_MAX {
        return Ok(None);
    }
    let point = |row| value_of(values.slice(row, 1).as_ref()).map(IndexCells::Point);
    (0..values.len()).map(point).collect::<Result<Vec<_>>>().map(Some)
}
