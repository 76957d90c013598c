//! A table as an open transaction sees it: the stored rows that the transaction has not changed,
//! and its own rows. The plan tests filters against both.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::datasource::MemTable;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TableProviderFilterPushDown, TableType, Volatility, ident,
};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExecBuilder;
use datafusion::physical_plan::union::UnionExec;
use tonnage::Row;

use super::StoreTable;
use crate::access::{SqlTable, rows_to_batch, rows_to_keys};
use crate::errors::into_datafusion;
use crate::session::ChangedRows;

/// A table of the store, and what is changed of it.
#[derive(Debug)]
pub(crate) struct OverlaidTable {
    stored: StoreTable,
    /// The rows that are there instead.
    rows: RecordBatch,
    unchanged: Arc<ScalarUDF>,
}

impl OverlaidTable {
    pub(crate) fn new(stored: StoreTable, changed: &ChangedRows) -> tonnage::Result<Self> {
        let table = stored.table();
        let rows: Vec<&Row> = changed.rows.iter().map(AsRef::as_ref).collect();
        let rows = with_row_notes(rows_to_batch(table, &rows)?, table)?;
        let keys = rows_to_keys(table.schema(), &changed.keys.iter().collect::<Vec<_>>())?;
        let unchanged = UnchangedKeys::new(&keys).map_err(crate::errors::from_datafusion)?;
        Ok(Self { unchanged: Arc::new(ScalarUDF::from(unchanged)), stored, rows })
    }
}

/// The batch with what the store notes of a row, where the table shows that: nothing of it is
/// stored yet.
fn with_row_notes(batch: RecordBatch, table: &SqlTable) -> tonnage::Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    let none: ArrayRef = Arc::new(UInt64Array::from(vec![0; batch.num_rows()]));
    columns.resize(table.arrow.fields().len(), none);
    RecordBatch::try_new(table.arrow.clone(), columns)
        .map_err(|error| tonnage::Error::internal(format!("rows of a transaction: {error}")))
}

#[async_trait]
impl TableProvider for OverlaidTable {
    fn schema(&self) -> SchemaRef {
        self.stored.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let told = self.stored.supports_filters_pushdown(filters)?;
        Ok(told
            .into_iter()
            .map(|told| match told {
                // The rows of the transaction are not looked at.
                TableProviderFilterPushDown::Exact => TableProviderFilterPushDown::Inexact,
                told => told,
            })
            .collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = self.stored.schema();
        let wanted: Vec<usize> =
            projection.cloned().unwrap_or_else(|| (0..schema.fields().len()).collect());
        let mut read = wanted.clone();
        let key = &self.stored.table().schema().key;
        read.extend(key.iter().filter(|column| !wanted.contains(column)));
        let stored = self.stored.scan(state, Some(&read), filters, None).await?;
        let key = key.iter().map(|column| ident(schema.field(*column).name())).collect();
        let unchanged = Expr::ScalarFunction(ScalarFunction::new_udf(self.unchanged.clone(), key));
        let unchanged =
            state.create_physical_expr(unchanged, &DFSchema::try_from(stored.schema())?)?;
        let stored = FilterExecBuilder::new(unchanged, stored)
            .apply_projection(Some((0..wanted.len()).collect()))?
            .build()?;
        let rows = MemTable::try_new(schema, vec![vec![self.rows.clone()]])?;
        let rows = rows.scan(state, Some(&wanted), &[], None).await?;
        UnionExec::try_new(vec![Arc::new(stored), rows])
    }
}

/// Whether the transaction has not changed the row under a key.
#[derive(Debug)]
struct UnchangedKeys {
    signature: Signature,
    types: Vec<DataType>,
    keys: HashSet<OwnedRow>,
}

impl UnchangedKeys {
    fn new(keys: &[ArrayRef]) -> Result<Self> {
        let types: Vec<DataType> = keys.iter().map(|key| key.data_type().clone()).collect();
        let rows = converter(&types)?.convert_columns(keys)?;
        let keys = rows.iter().map(|row| row.owned()).collect();
        let signature = Signature::exact(types.clone(), Volatility::Immutable);
        Ok(Self { signature, types, keys })
    }
}

fn converter(types: &[DataType]) -> Result<RowConverter> {
    Ok(RowConverter::new(types.iter().cloned().map(SortField::new).collect())?)
}

impl PartialEq for UnchangedKeys {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for UnchangedKeys {}

impl std::hash::Hash for UnchangedKeys {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

impl ScalarUDFImpl for UnchangedKeys {
    fn name(&self) -> &str {
        "unchanged_by_transaction"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let key = ColumnarValue::values_to_arrays(&args.args)?;
        let converter = converter(&self.types)?;
        let rows = converter.convert_columns(&key)?;
        let unchanged: BooleanArray =
            rows.iter().map(|row| Some(!self.keys.contains(&row.owned()))).collect();
        Ok(ColumnarValue::Array(Arc::new(unchanged)))
    }
}

/// The table as a transaction sees it.
pub(super) fn overlay_table(
    stored: StoreTable,
    changed: &ChangedRows,
) -> std::result::Result<Arc<dyn TableProvider>, DataFusionError> {
    Ok(Arc::new(OverlaidTable::new(stored, changed).map_err(into_datafusion)?))
}
