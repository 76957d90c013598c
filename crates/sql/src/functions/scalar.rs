//! Declares a scalar function: its name, how many arguments it takes, its result type, its work.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};
use tonnage::ColumnType;

/// What a function does with its arguments.
pub(crate) type ScalarWork = fn(&Arguments) -> Result<ArrayRef>;

/// A function of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar {
    pub(crate) name: &'static str,
    /// The form that an error shows when the number of arguments is wrong.
    pub(crate) form: &'static str,
    /// The least and the greatest number of arguments.
    pub(crate) count: (usize, usize),
    pub(crate) gives: Gives,
    pub(crate) work: ScalarWork,
}

/// What a function gives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gives {
    Type(fn() -> DataType),
    Json,
    Column(fn() -> ColumnType),
    Of(fn(&[FieldRef]) -> Result<DataType>),
    /// What the first argument is.
    First,
}

impl Scalar {
    /// A call as columns are named by it. Of an operator the form shows it: `interval * number`.
    fn call_text(&self, given: &[String], separator: &str) -> String {
        match (self.form.split(' ').collect::<Vec<_>>().as_slice(), given) {
            ([_, operator, _], [left, right]) if !self.form.contains('(') => {
                format!("{left} {operator} {right}")
            }
            _ => format!("{}({})", self.name, given.join(separator)),
        }
    }

    pub(crate) const fn new(
        name: &'static str,
        form: &'static str,
        count: (usize, usize),
        gives: Gives,
        work: ScalarWork,
    ) -> Self {
        Self { name, form, count, gives, work }
    }

    /// A call of the function.
    pub(crate) fn call(&self, args: Vec<Expr>) -> Expr {
        Expr::ScalarFunction(ScalarFunction { func: Arc::new(self.function()), args })
    }

    pub(crate) fn function(&self) -> ScalarUDF {
        let any = vec![TypeSignature::VariadicAny, TypeSignature::Nullary];
        let signature = Signature::one_of(any, Volatility::Immutable);
        ScalarUDF::new_from_impl(OwnFunction { scalar: *self, signature })
    }
}

#[derive(Debug)]
struct OwnFunction {
    scalar: Scalar,
    signature: Signature,
}

impl PartialEq for OwnFunction {
    fn eq(&self, other: &Self) -> bool {
        self.scalar.name == other.scalar.name
    }
}

impl Eq for OwnFunction {}

impl Hash for OwnFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.scalar.name.hash(state);
    }
}

impl ScalarUDFImpl for OwnFunction {
    fn name(&self) -> &str {
        self.scalar.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        exec_err!("{} tells its type by its arguments", self.scalar.name)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let Scalar { name, form, count: (least, most), gives, .. } = self.scalar;
        let given = arguments.arg_fields.len();
        if given < least || given > most {
            return plan_err!("write {form}: {given} arguments do not fit");
        }
        let data_type = match gives {
            Gives::Type(data_type) => data_type(),
            Gives::Json => return Ok(Arc::new(ColumnType::Json.to_arrow(name, true))),
            Gives::Column(column_type) => return Ok(Arc::new(column_type().to_arrow(name, true))),
            Gives::Of(data_type) => data_type(arguments.arg_fields)?,
            Gives::First => return Ok(arguments.arg_fields[0].clone()),
        };
        Ok(Arc::new(Field::new(name, data_type, true)))
    }

    fn display_name(&self, arguments: &[Expr]) -> Result<String> {
        let given: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        Ok(self.scalar.call_text(&given, ", "))
    }

    fn schema_name(&self, arguments: &[Expr]) -> Result<String> {
        let given = arguments.iter().map(|argument| argument.schema_name().to_string());
        Ok(self.scalar.call_text(&given.collect::<Vec<_>>(), ","))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let arrays = arguments.args.iter().map(|argument| argument.to_array(rows));
        let arguments = Arguments {
            name: self.scalar.name,
            arrays: arrays.collect::<Result<Vec<_>>>()?,
            fields: arguments.arg_fields,
            rows,
        };
        (self.scalar.work)(&arguments).map(ColumnarValue::Array)
    }
}

/// The arguments of a call, for a number of rows.
pub(crate) struct Arguments {
    pub(crate) name: &'static str,
    pub(crate) arrays: Vec<ArrayRef>,
    pub(crate) fields: Vec<FieldRef>,
    pub(crate) rows: usize,
}

impl Arguments {
    /// An argument as text.
    pub(crate) fn texts(&self, index: usize) -> Result<StringArray> {
        texts(&self.arrays[index]).or_else(|_| {
            exec_err!(
                "{} takes text in place {}, not {}",
                self.name,
                index + 1,
                self.fields[index].data_type()
            )
        })
    }

    /// The same function of every row.
    pub(crate) fn map_text(
        &self,
        mut of_row: impl FnMut(usize) -> Result<Option<String>>,
    ) -> Result<ArrayRef> {
        let rows = (0..self.rows).map(&mut of_row).collect::<Result<StringArray>>()?;
        Ok(Arc::new(rows))
    }
}

/// A column of any kind of text as plain text.
pub(crate) fn texts(array: &ArrayRef) -> Result<StringArray> {
    match array.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            Ok(cast(array, &DataType::Utf8)?.as_string::<i32>().clone())
        }
        DataType::Dictionary(..) => Ok(cast(array, &DataType::Utf8)?.as_string::<i32>().clone()),
        other => exec_err!("{other} is not text"),
    }
}

/// The text of a row, unless it is NULL.
pub(crate) fn text_of(texts: &StringArray, row: usize) -> Option<&str> {
    texts.is_valid(row).then(|| texts.value(row))
}

/// The whole number of a row, unless it is NULL.
pub(crate) fn int(array: &ArrayRef, row: usize) -> Result<Option<i64>> {
    let one = cast(&array.slice(row, 1), &DataType::Int64)?;
    let one = one.as_primitive::<Int64Type>();
    Ok(one.is_valid(0).then(|| one.value(0)))
}
