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
use tonnage::Direction;

use super::condition_of;
use crate::access::{Condition, Latest, Path, ReadSpec, SqlTable, choose};
use crate::error::into_datafusion;
use crate::options::SqlOptions;
use crate::plan::StoreScan;

/// A table with what of it is left out before anything else is looked at.
#[derive(Debug, Clone)]
pub(crate) struct StoreTable {
    table: Arc<SqlTable>,
    options: Arc<SqlOptions>,
    latest: Option<Latest>,
}

impl StoreTable {
    pub(crate) fn new(table: SqlTable, options: Arc<SqlOptions>) -> Self {
        Self { table: Arc::new(table), options, latest: None }
    }

    pub(crate) fn table(&self) -> &Arc<SqlTable> {
        &self.table
    }

    pub(crate) fn latest(&self) -> Option<Latest> {
        self.latest
    }

    pub(crate) fn options(&self) -> &SqlOptions {
        &self.options
    }

    /// The same table of which only the first rows under each shard key are wanted; to read more is no error.
    pub(crate) fn with_latest(&self, latest: Latest) -> Self {
        Self { latest: Some(latest), ..self.clone() }
    }

    /// Which of the filters the path answers by itself, and the path.
    fn choose(&self, filters: &[&Expr]) -> Result<(Path, Vec<bool>)> {
        if !self.options.push_down {
            return Ok((Path::All, vec![false; filters.len()]));
        }
        let parts: Vec<Option<Vec<Condition>>> = filters.iter().map(|filter| condition_of(&self.table, filter)).collect();
        let conditions: Vec<Condition> = parts.iter().flatten().flatten().cloned().collect();
        let choice = choose(self.table.schema(), &conditions).map_err(into_datafusion)?;
        let mut answered = choice.answered.into_iter();
        let is_answered = |part: Option<Vec<Condition>>| match part {
            None => false,
            Some(conditions) => answered.by_ref().take(conditions.len()).filter(|answered| *answered).count() == conditions.len(),
        };
        Ok((choice.path, parts.into_iter().map(is_answered).collect()))
    }
}

#[async_trait]
impl TableProvider for StoreTable {
    fn schema(&self) -> SchemaRef {
        self.table.arrow.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // What the key does not answer is held against the rows above, batch by batch.
        let (_, answered) = self.choose(filters)?;
        let told = |answered| match answered {
            true => TableProviderFilterPushDown::Exact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(answered.into_iter().map(told).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (path, answered) = self.choose(&filters.iter().collect::<Vec<_>>())?;
        let columns = projection.cloned().unwrap_or_else(|| (0..self.table.arrow.fields().len()).collect());
        // A filter was answered by itself, but is not in company: it is held against the rows here.
        let left = filters.iter().zip(&answered).filter(|(_, answered)| !**answered).map(|(filter, _)| filter.clone());
        let left = conjunction(left);
        let spec = ReadSpec {
            table: self.table.clone(),
            path,
            columns: if left.is_some() { (0..self.table.arrow.fields().len()).collect() } else { columns.clone() },
            direction: Direction::Unordered,
            limit: limit.filter(|_| left.is_none()).map(|limit| limit as u64),
            latest: self.latest.filter(|_| left.is_none()),
            batch_rows_max: self.options.batch_rows_max,
            workers: self.options.workers(),
        };
        let scan: Arc<dyn ExecutionPlan> = Arc::new(StoreScan::new(spec));
        let Some(left) = left else { return Ok(scan) };
        let schema = DFSchema::try_from(self.table.arrow.clone())?;
        let predicate = state.create_physical_expr(unnormalize_col(left), &schema)?;
        Ok(Arc::new(FilterExecBuilder::new(predicate, scan).apply_projection(Some(columns))?.build()?))
    }
}
