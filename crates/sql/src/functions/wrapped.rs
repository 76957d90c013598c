//! A function of the library with the same signature, and other work.

use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

/// What is done with the arguments, and with the function itself.
type WrappedWork = dyn Fn(&ScalarUDF, ScalarFunctionArgs) -> Result<ColumnarValue> + Send + Sync;

/// A function with other work.
pub(crate) fn wrapped(
    inner: Arc<ScalarUDF>,
    work: impl Fn(&ScalarUDF, ScalarFunctionArgs) -> Result<ColumnarValue> + Send + Sync + 'static,
) -> ScalarUDF {
    ScalarUDF::new_from_impl(WrappedFunction { inner, work: Arc::new(work) })
}

struct WrappedFunction {
    inner: Arc<ScalarUDF>,
    work: Arc<WrappedWork>,
}

impl Debug for WrappedFunction {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("WrappedFunction").field(&self.inner).finish()
    }
}

impl PartialEq for WrappedFunction {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl Eq for WrappedFunction {}

impl Hash for WrappedFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl ScalarUDFImpl for WrappedFunction {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        self.inner.return_field_from_args(arguments)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        (self.work)(&self.inner, arguments)
    }
}
