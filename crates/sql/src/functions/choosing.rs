//! COALESCE, GREATEST, LEAST and NULLIF of values among which are texts.
//!
//! The planner asks for their types before any rule runs. The library has none for a text beside
//! bytes, a moment or a truth value. `plan/texts.rs` makes such a value of the text later, so until
//! then a text has the type of the others.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::Result;
use datafusion::functions::core::{coalesce, greatest, least, nullif};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature,
};

/// The functions in the place of those of the library.
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
        self.inner.return_field_from_args(arguments)
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
        | DataType::Timestamp(_, None)
        | DataType::FixedSizeBinary(_) => true,
        kind => kind.is_binary() || kind.is_decimal(),
    }
}

fn nameless(kind: &DataType) -> FieldRef {
    Arc::new(Field::new("", kind.clone(), true))
}

fn types_of(fields: &[FieldRef]) -> Vec<DataType> {
    fields.iter().map(|field| field.data_type().clone()).collect()
}
