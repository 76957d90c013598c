//! Names after columns that have no members.

use arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, TableReference};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult};

use crate::errors::{MissingMember, in_sql};

/// Reports `t.notes.ship` where `notes` is a STRING: the library's own planner takes `notes` for a
/// struct, and says nothing of its name. It comes after the planner of documents.
#[derive(Debug)]
pub(crate) struct MemberPlanner;

impl ExprPlanner for MemberPlanner {
    fn plan_compound_identifier(
        &self,
        field: &Field,
        qualifier: Option<&TableReference>,
        names: &[String],
    ) -> Result<PlannerResult<Vec<Expr>>> {
        if !is_whole(field.data_type()) {
            return Ok(PlannerResult::Original(Vec::new()));
        }
        let missing = MissingMember {
            column: field.name().clone(),
            column_type: in_sql(&field.data_type().to_string()),
            names: names.to_vec(),
        };
        Ok(PlannerResult::Planned(Expr::Column(missing.to_column(qualifier))))
    }
}

/// Whether a value of a type has no parts.
fn is_whole(data_type: &DataType) -> bool {
    use DataType::{Binary, Boolean, FixedSizeBinary, LargeUtf8, Utf8, Utf8View};
    data_type.is_numeric()
        || data_type.is_temporal()
        || matches!(data_type, Utf8 | Utf8View | LargeUtf8 | Boolean | Binary | FixedSizeBinary(_))
}
