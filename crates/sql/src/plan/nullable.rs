//! `_nullable`: a value as it is, but the plan no longer says that it is never NULL.

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

const NAME: &str = "_nullable";

pub(crate) fn nullable() -> ScalarUDF {
    ScalarUDF::new_from_impl(NullableValue { signature: Signature::any(1, Volatility::Immutable) })
}

/// The same, which the optimiser does not take away from constants.
pub(crate) fn volatile_nullable() -> ScalarUDF {
    ScalarUDF::new_from_impl(NullableValue { signature: Signature::any(1, Volatility::Volatile) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct NullableValue {
    signature: Signature,
}

impl ScalarUDFImpl for NullableValue {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let [field] = arguments.arg_fields else {
            return plan_err!("{NAME} takes one argument");
        };
        Ok(field.as_ref().clone().with_nullable(true).into())
    }

    fn invoke_with_args(&self, mut arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match arguments.args.pop() {
            Some(value) => Ok(value),
            None => exec_err!("{NAME} takes one argument"),
        }
    }
}
