//! COALESCE, GREATEST, LEAST and NULLIF of values among which are texts.
//!
//! The planner asks for their types before any rule runs. The library has none for a text beside
//! bytes, a timestamp or a truth value. `plan/texts.rs` makes such a value of the text later, so
//! until then a text has the type of the others.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::{Result, plan_err};
use datafusion::functions::core::{coalesce, greatest, least, nullif};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature,
};
use tonnage::ColumnType;

use super::uuid::UUID;

/// The functions that replace those of the library.
pub(super) fn functions() -> impl Iterator<Item = ScalarUDF> {
    [coalesce(), greatest(), least(), nullif()].into_iter().map(|inner| {
        let signature = Signature::user_defined(inner.signature().volatility);
        ScalarUDF::new_from_impl(ChoosingFunction { inner, signature })
    })
}

/// A function of the library that takes texts beside more types.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ChoosingFunction {
    inner: Arc<ScalarUDF>,
    signature: Signature,
}

impl ScalarUDFImpl for ChoosingFunction {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let Some(kind) = spelled_bytes(arguments.arg_fields)? else {
            return self.inner.return_field_from_args(arguments);
        };
        let read = |field: &FieldRef| Arc::new(field.as_ref().clone().with_data_type(kind.clone()));
        let arg_fields: Vec<FieldRef> = arguments.arg_fields.iter().map(read).collect();
        self.inner.return_field_from_args(ReturnFieldArgs { arg_fields: &arg_fields, ..arguments })
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let fields: Vec<FieldRef> = types.iter().map(nameless).collect();
        let error = match fields_with_udf(&fields, self.inner.as_ref()) {
            Ok(fields) => return Ok(types_of(&fields)),
            Err(error) => error,
        };
        let is_other = |kind: &&DataType| !kind.is_string() && !kind.is_null();
        let mut others: Vec<FieldRef> = types.iter().filter(is_other).map(nameless).collect();
        // NULLIF takes two values, and one that is alone has its own type.
        if others.len() > 1 && others.len() < types.len() {
            others = fields_with_udf(&others, self.inner.as_ref())?;
        }
        match others.first().map(|other| other.data_type()) {
            // Arrow has no cast of text to these: a text is left as it is until it is read.
            Some(bytes @ DataType::FixedSizeBinary(_)) => {
                let kept = |kind: &DataType| match kind.is_string() {
                    true => kind.clone(),
                    false => bytes.clone(),
                };
                Ok(types.iter().map(kept).collect())
            }
            Some(kind) if is_spelled(kind) => Ok(vec![kind.clone(); types.len()]),
            _ => Err(error),
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.inner.invoke_with_args(arguments)
    }

    fn simplify(
        &self,
        arguments: Vec<Expr>,
        context: &SimplifyContext,
    ) -> Result<ExprSimplifyResult> {
        self.inner.simplify(arguments, context)
    }

    fn short_circuits(&self) -> bool {
        self.inner.short_circuits()
    }

    fn conditional_arguments<'a>(
        &self,
        arguments: &'a [Expr],
    ) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.conditional_arguments(arguments)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}

/// Types whose values `plan/texts.rs` reads from texts. A cast of a text to others, such as an
/// interval, might give something else.
fn is_spelled(kind: &DataType) -> bool {
    match kind {
        DataType::Boolean
        | DataType::Date32
        | DataType::Time64(TimeUnit::Nanosecond)
        | DataType::Timestamp(_, None) => true,
        kind => kind.is_binary() || kind.is_decimal(),
    }
}

/// The type of texts beside a UUID or bytes of one length, once they are read: a UUID, or bytes of
/// any length.
///
/// # Errors
/// For a text beside both, which might be either.
fn spelled_bytes(fields: &[FieldRef]) -> Result<Option<DataType>> {
    if !fields.iter().any(|field| field.data_type().is_string()) {
        return Ok(None);
    }
    let is_fixed = |field: &&FieldRef| matches!(field.data_type(), DataType::FixedSizeBinary(_));
    let mut is_uuid = fields
        .iter()
        .filter(is_fixed)
        .map(|field| ColumnType::of_arrow(field) == Some(ColumnType::Uuid));
    let Some(first) = is_uuid.next() else { return Ok(None) };
    if is_uuid.any(|other| other != first) {
        return plan_err!(
            "a text beside a UUID and a BINARY(16) may be either: write CAST('...' AS UUID) or \
             CAST('...' AS BINARY)"
        );
    }
    Ok(Some(if first { UUID } else { DataType::Binary }))
}

fn nameless(kind: &DataType) -> FieldRef {
    Arc::new(Field::new("", kind.clone(), true))
}

fn types_of(fields: &[FieldRef]) -> Vec<DataType> {
    fields.iter().map(|field| field.data_type().clone()).collect()
}
