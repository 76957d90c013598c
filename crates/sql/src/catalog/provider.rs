//! A table of the store as DataFusion reads it.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExecBuilder;
use tonnage::{Consistency, Direction, Index};

use super::{PlaceDistance, condition_of, geo_condition_of, json_conditions_of};
use crate::access::{
    AccessPath, ColumnCondition, ColumnOrder, ENTRIES_FEW, IndexChoice, IndexConditions, IndexPath,
    LatestRows, NearestRead, ROWS_PER_ENTRY, ReadSpec, SqlTable, choose_access_path, choose_index,
    index_in_order,
};
use crate::errors::into_datafusion;
use crate::functions::SPHEROID_SHARE;
use crate::plan::StoreScan;
use crate::session::{Guard, SqlOptions};

/// No more rows are looked up by an index in their order: they are gathered before they are handed
/// on.
const FIRST_ROWS_MAX: u64 = 10_000;

/// The first rows in the order of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstRows {
    pub(crate) order: ColumnOrder,
    pub(crate) rows: usize,
}

/// The rows nearest to a place.
#[derive(Clone, Debug)]
pub(crate) struct NearestWanted {
    pub(crate) distance: PlaceDistance,
    pub(crate) rows: usize,
    /// What the rows must meet, over the columns of the table.
    pub(crate) conditions: Vec<Expr>,
}

/// A table with what of it is left out before anything else is looked at.
#[derive(Debug, Clone)]
pub(crate) struct StoreTable {
    table: Arc<SqlTable>,
    options: Arc<SqlOptions>,
    keeps_columns: bool,
    latest: Option<LatestRows>,
    /// The order in which few rows are wanted: to read them in another one is not an error.
    order: Option<FirstRows>,
    /// The rows that are wanted by their distance, likewise.
    nearest: Option<Arc<NearestWanted>>,
    /// Whether its rows must be the latest, whatever the session asks for.
    at_its_latest: bool,
}

impl StoreTable {
    pub(crate) fn new(table: SqlTable, options: Arc<SqlOptions>) -> Self {
        let table = Arc::new(table);
        Self {
            table,
            options,
            keeps_columns: false,
            latest: None,
            order: None,
            nearest: None,
            at_its_latest: false,
        }
    }

    pub(crate) fn table(&self) -> &Arc<SqlTable> {
        &self.table
    }

    pub(crate) fn latest(&self) -> Option<LatestRows> {
        self.latest
    }

    pub(crate) fn options(&self) -> &SqlOptions {
        &self.options
    }

    /// The same table of which only the first rows under each shard key are wanted; to read more is
    /// no error.
    pub(crate) fn with_latest(&self, latest: LatestRows) -> Self {
        Self { latest: Some(latest), ..self.clone() }
    }

    /// Whether an index gives the rows that meet conditions in an order.
    pub(crate) fn is_in_order(&self, conditions: &[ColumnCondition], first: FirstRows) -> bool {
        let is_pushed = self.options.push_down && self.latest.is_none() && self.order.is_none();
        let rows = self.table.rows_estimate.unwrap_or(u64::MAX);
        let most = (rows / ROWS_PER_ENTRY).clamp(ENTRIES_FEW, FIRST_ROWS_MAX);
        let is_cheap = first.rows as u64 <= most;
        let path = || index_in_order(&self.table, conditions, first.order, true);
        is_pushed && is_cheap && matches!(path(), Ok(Some(_)))
    }

    /// The same table of which the first rows in an order are wanted.
    pub(crate) fn with_order(&self, first: FirstRows) -> Self {
        Self { order: Some(first), ..self.clone() }
    }

    /// The same table of which the nearest rows are wanted, where an index finds them.
    pub(crate) fn with_nearest(&self, wanted: NearestWanted) -> Option<Self> {
        let is_free = self.latest.is_none() && self.order.is_none() && self.nearest.is_none();
        let may_read = self.options.push_down && is_free && self.table.written.is_empty();
        self.place_index(&wanted.distance).filter(|_| may_read)?;
        Some(Self { nearest: Some(Arc::new(wanted)), ..self.clone() })
    }

    /// The index on the places that a distance is of: of several the one with the finest cells.
    fn place_index(&self, distance: &PlaceDistance) -> Option<Index> {
        // Without a count of changes it is unknown whether rows moved meanwhile.
        if !matches!(self.table.table.change_count(), Ok(Some(_))) {
            return None;
        }
        let columns = &self.table.schema().columns;
        let level = |index: &Index| {
            let first = index.columns().first()?;
            let cells = first.cells.as_ref()?;
            let is_on = cells.lon == columns[distance.lon].name
                && first.column == columns[distance.lat].name;
            is_on.then_some(cells.level)
        };
        let indexes = self.table.indexes.iter().filter(|index| index.is_ready());
        indexes.filter(|index| level(index).is_some()).max_by_key(|index| level(index)).cloned()
    }

    /// How the nearest rows are read, for a plan with these columns.
    fn nearest_read(
        &self,
        state: &dyn Session,
        spec: &ReadSpec,
        filters: &[&Expr],
    ) -> Result<Option<NearestRead>> {
        let Some(wanted) = self.nearest.as_ref().filter(|_| spec.limit.is_none()) else {
            return Ok(None);
        };
        // So few rows are sorted faster than others are looked for.
        let is_short = match &spec.path {
            AccessPath::All | AccessPath::Range { .. } => false,
            AccessPath::Index(path) => path.entries() <= ENTRIES_FEW,
            AccessPath::Nothing | AccessPath::Keys { .. } => true,
        };
        let Some(index) = self.place_index(&wanted.distance).filter(|_| !is_short) else {
            return Ok(None);
        };
        let conditions: Vec<&Expr> =
            wanted.conditions.iter().chain(filters.iter().copied()).collect();
        // Conditions may be on columns that the query does not select.
        let mut columns = spec.columns.clone();
        for column in self.columns_of(&conditions)? {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let condition = match conjunction(wanted.conditions.iter().cloned()) {
            None => None,
            Some(condition) => {
                let wide = ReadSpec { columns: columns.clone(), ..spec.clone() };
                let schema = DFSchema::try_from(wide.schema())?;
                Some(state.create_physical_expr(unnormalize_col(condition), &schema)?)
            }
        };
        Ok(Some(NearestRead {
            index,
            place: wanted.distance.place,
            rows: wanted.rows,
            slack: (1.0 + SPHEROID_SHARE) / (1.0 - SPHEROID_SHARE),
            columns,
            condition,
        }))
    }

    /// The same table, whose columns may be kept.
    pub(crate) fn with_kept_columns(self) -> Self {
        Self { keeps_columns: self.options.keeps_columns(), ..self }
    }

    /// The same table for a statement that changes rows by what it reads.
    pub(crate) fn with_absolute_consistency(self) -> Self {
        Self { at_its_latest: true, ..self }
    }

    /// How fresh the rows must be. A plan may be kept for many executions, so the session is asked
    /// each time.
    fn consistency(&self, session: &dyn Session) -> Option<Consistency> {
        if self.at_its_latest {
            return Some(Consistency::Absolute);
        }
        let guard = session.config().get_extension::<Guard>();
        guard.and_then(|guard| guard.consistency()).or(self.options.consistency)
    }

    /// The path through the key, and which of the filters it answers by itself.
    fn choose(&self, filters: &[&Expr]) -> Result<(AccessPath, Vec<bool>)> {
        if !self.options.push_down {
            return Ok((AccessPath::All, vec![false; filters.len()]));
        }
        let parts = self.conditions(filters);
        let choice = choose_access_path(&self.table, &flatten_conditions(&parts))
            .map_err(into_datafusion)?;
        Ok((choice.path, answered_filters(&parts, choice.answered)))
    }

    /// The path of a read, which of the filters it answers by itself, and why no index is used, if
    /// one might be.
    fn choose_with_indexes(
        &self,
        filters: &[&Expr],
        columns: &[usize],
    ) -> Result<(AccessPath, Vec<bool>, Option<String>)> {
        let (path, by_key) = self.choose(filters)?;
        // What is above a read of the latest rows counts on the order of the key.
        if !self.options.push_down || self.latest.is_some() {
            return Ok((path, by_key, None));
        }
        let parts = self.conditions(filters);
        // No condition on a JSON path answers a filter alone, so it does not matter which filter it
        // is.
        let places: Vec<_> = filters
            .iter()
            .filter_map(|filter| json_conditions_of(&self.table, filter))
            .flatten()
            .collect();
        let regions: Vec<_> =
            filters.iter().filter_map(|filter| geo_condition_of(&self.table, filter)).collect();
        let of_columns = flatten_conditions(&parts);
        let known = IndexConditions { columns: &of_columns, places: &places, regions: &regions };
        Ok(match choose_index(&self.table, known, &path, columns).map_err(into_datafusion)? {
            IndexChoice::Chosen { path, answered: by_index } => {
                // `by_key` does not count any more: the path through the key is not taken.
                (AccessPath::Index(path), answered_filters(&parts, by_index), None)
            }
            IndexChoice::Rejected(remark) => (path, by_key, Some(remark)),
            IndexChoice::None => (path, by_key, None),
        })
    }

    /// About how many rows filters leave, where a key or an index finds them.
    pub(crate) fn rows_found(&self, filters: &[&Expr]) -> Option<u64> {
        match self.choose_with_indexes(filters, &[]).ok()? {
            (AccessPath::All, ..) => None,
            (path, ..) => path.rows_estimate(&self.table),
        }
    }

    /// The conditions that filters consist of, of those that consist of nothing else.
    fn conditions(&self, filters: &[&Expr]) -> Vec<Option<Vec<ColumnCondition>>> {
        filters.iter().map(|filter| condition_of(&self.table, filter)).collect()
    }

    /// Whether an index may have something to say about a filter.
    fn is_indexed(&self, filter: &Expr) -> bool {
        if self.table.indexes.is_empty() || !self.options.push_down {
            return false;
        }
        let conditions = condition_of(&self.table, filter).unwrap_or_default();
        let places = json_conditions_of(&self.table, filter).unwrap_or_default();
        conditions.iter().any(|condition| self.table.is_indexed(condition.column, &[]))
            || places.iter().any(|place| self.table.is_indexed(place.column, &place.path))
            || geo_condition_of(&self.table, filter)
                .is_some_and(|condition| self.table.is_indexed(condition.lat, &[]))
    }

    /// Whether the key might answer a filter.
    fn is_on_key(&self, filter: &Expr) -> bool {
        let is_key = |condition: &ColumnCondition| self.table.schema().is_key(condition.column);
        condition_of(&self.table, filter).is_some_and(|conditions| conditions.iter().all(is_key))
    }

    /// A read of all rows in any order.
    fn full_read(&self, state: &dyn Session, columns: Vec<usize>) -> ReadSpec {
        ReadSpec {
            table: self.table.clone(),
            path: AccessPath::All,
            columns,
            direction: Direction::Unordered,
            limit: None,
            latest: None,
            batch_rows_max: self.options.batch_rows_max,
            consistency: self.consistency(state),
            workers: self.options.workers(),
            keeps_columns: self.keeps_columns,
            wanted: Vec::new(),
            remark: None,
            nearest: None,
        }
    }

    /// The path through an index in an order, where it answers all filters.
    fn path_in_order(&self, filters: &[&Expr], order: ColumnOrder) -> Result<Option<IndexPath>> {
        let parts = self.conditions(filters);
        if !parts.iter().all(Option::is_some) {
            return Ok(None);
        }
        index_in_order(&self.table, &flatten_conditions(&parts), order, true)
            .map_err(into_datafusion)
    }

    /// The columns that filters are on.
    fn columns_of(&self, filters: &[&Expr]) -> Result<Vec<usize>> {
        let columns = filters.iter().flat_map(|filter| filter.column_refs());
        columns.map(|column| Ok(self.table.arrow.index_of(&column.name)?)).collect()
    }

    /// A read that also holds filters against its rows.
    fn filtered_scan(
        &self,
        state: &dyn Session,
        spec: ReadSpec,
        filter: Expr,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut read = spec.columns.clone();
        for column in filter.column_refs() {
            let place = self.table.arrow.index_of(&column.name)?;
            if !read.contains(&place) {
                read.push(place);
            }
        }
        let wanted: Vec<usize> = (0..spec.columns.len()).collect();
        let scan = StoreScan::new(ReadSpec { columns: read, ..spec });
        let schema = DFSchema::try_from(scan.schema())?;
        let predicate = state.create_physical_expr(unnormalize_col(filter), &schema)?;
        Ok(Arc::new(
            FilterExecBuilder::new(predicate, Arc::new(scan))
                .apply_projection(Some(wanted))?
                .build()?,
        ))
    }
}

fn flatten_conditions(parts: &[Option<Vec<ColumnCondition>>]) -> Vec<ColumnCondition> {
    parts.iter().flatten().flatten().cloned().collect()
}

/// Which filters are answered, of whose conditions these are.
fn answered_filters(parts: &[Option<Vec<ColumnCondition>>], answered: Vec<bool>) -> Vec<bool> {
    let mut answered = answered.into_iter();
    let is_answered = |part: &Option<Vec<ColumnCondition>>| match part {
        None => false,
        Some(conditions) => {
            answered.by_ref().take(conditions.len()).filter(|answered| *answered).count()
                == conditions.len()
        }
    };
    parts.iter().map(is_answered).collect()
}

#[async_trait]
impl TableProvider for StoreTable {
    fn schema(&self) -> SchemaRef {
        self.table.arrow.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        // What the key does not answer is held against the rows above, batch by batch; an index may
        // lead to fewer of them.
        let (_, answered) = self.choose(filters)?;
        let told = |(filter, answered): (&&Expr, bool)| match answered {
            true => TableProviderFilterPushDown::Exact,
            false if self.is_indexed(filter) => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().zip(answered).map(told).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns =
            projection.cloned().unwrap_or_else(|| (0..self.table.arrow.fields().len()).collect());
        let filters: Vec<&Expr> = filters.iter().collect();
        // The limit is right because this path answers every filter: none drops rows above it.
        if let Some(first) = self.order
            && let Some(path) = self.path_in_order(&filters, first.order)?
        {
            return Ok(Arc::new(StoreScan::new(ReadSpec {
                path: AccessPath::Index(path),
                direction: first.order.direction(),
                limit: Some(first.rows as u64),
                ..self.full_read(state, columns)
            })));
        }
        let (path, mut answered, remark) = self.choose_with_indexes(&filters, &columns)?;
        let mut spec = ReadSpec {
            path,
            limit: limit.map(|limit| limit as u64),
            latest: self.latest,
            remark,
            ..self.full_read(state, columns)
        };
        // Where it is unknown which rows are nearest, all rows of the path are read.
        spec.nearest = self.nearest_read(state, &spec, &filters)?;
        if spec.nearest.is_none() && spec.is_slower_than_cache(&self.columns_of(&filters)?) {
            let remark = match &spec.path {
                AccessPath::Index(path) => {
                    format!("index {} not used: columns are kept", path.name())
                }
                _ => "no range read: columns are kept".to_owned(),
            };
            (spec.path, spec.remark) = (AccessPath::All, Some(remark));
            answered.fill(false);
        }
        // What the key was said to answer, and does not on this path or in this company, is held
        // against the rows here; the others above.
        let left = filters
            .iter()
            .zip(&answered)
            .filter(|(filter, answered)| !**answered && self.is_on_key(filter));
        let Some(left) = conjunction(left.map(|(filter, _)| (*filter).clone())) else {
            return Ok(Arc::new(StoreScan::new(spec)));
        };
        // `limit` and `latest` would cut rows before the filter has seen them.
        self.filtered_scan(state, ReadSpec { limit: None, latest: None, ..spec }, left)
    }
}
