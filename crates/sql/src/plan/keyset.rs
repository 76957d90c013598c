//! Long lists of values, kept out of plans.
//!
//! Every step of planning would copy, compare and rewrite a list of 100,000 values. So `x IN (...)`
//! with a long list of plain numbers or texts becomes a call of a function that holds the values as
//! one array. That happens before planning, and where possible before the statement is parsed.

use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, InListExpr};
use datafusion::sql::sqlparser::ast::{self, Value};
use tonnage::internal::sync::lock;

use super::listed_values::{compared_value, list_values_as};
use super::long_lists::{VALUES_MIN, extract_long_lists, placeholder};
use crate::text::{self, Piece, Rewriter, call, walk_mut};

/// The long lists of one statement.
#[derive(Default)]
pub(crate) struct KeySets {
    sets: Vec<ArrayRef>,
    /// Lists that were taken out before the statement was parsed, until they are met in it.
    shortened: Vec<Option<ArrayRef>>,
}

impl KeySets {
    /// A statement without its long lists, and these.
    pub(crate) fn parse(piece: &Piece) -> tonnage::Result<(ast::Statement, Self)> {
        let (tokens, shortened) = extract_long_lists(&piece.tokens);
        if !shortened.is_empty()
            && let Ok(mut statement) = text::parse(tokens, piece.end)
        {
            let mut sets =
                Self { sets: Vec::new(), shortened: shortened.into_iter().map(Some).collect() };
            let _ = walk_mut(&mut statement, &mut sets);
            if sets.shortened.iter().all(Option::is_none) {
                return Ok((statement, sets));
            }
        }
        // Errors are reported for the statement as it was written.
        let mut statement = piece.parse()?;
        let sets = Self::take_from(&mut statement);
        Ok((statement, sets))
    }

    /// Takes the long lists out of a statement.
    pub(crate) fn take_from(statement: &mut ast::Statement) -> Self {
        let mut sets = Self::default();
        let _ = walk_mut(statement, &mut sets);
        sets
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Makes the lists known under the names that the statement calls them by.
    pub(crate) fn register(self, state: &mut SessionState) -> Result<()> {
        for (number, values) in self.sets.into_iter().enumerate() {
            state.register_udf(Arc::new(ScalarUDF::new_from_impl(KeySet::new(number, values))))?;
        }
        Ok(())
    }
}

fn name_of(number: usize) -> String {
    format!("key_set_{number}")
}

impl Rewriter for KeySets {
    fn pre_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<tonnage::Error> {
        let ast::Expr::InList { expr: tested, list, negated } = expr else {
            return ControlFlow::Continue(());
        };
        let Some(values) = self.values(list) else { return ControlFlow::Continue(()) };
        let call = call(
            &name_of(self.number(values)),
            [std::mem::replace(tested.as_mut(), ast::Expr::value(Value::Null))],
        );
        *expr = if *negated {
            ast::Expr::UnaryOp { op: ast::UnaryOperator::Not, expr: Box::new(call) }
        } else {
            call
        };
        ControlFlow::Continue(())
    }
}

impl KeySets {
    /// The number of a list. Equal ones are one, so that what is grouped by `x IN (...)` may be
    /// selected.
    fn number(&mut self, values: ArrayRef) -> usize {
        let known = self.sets.iter().position(|known| known.as_ref() == values.as_ref());
        known.unwrap_or_else(|| {
            self.sets.push(values);
            self.sets.len() - 1
        })
    }

    /// The values of a long list.
    fn values(&mut self, list: &[ast::Expr]) -> Option<ArrayRef> {
        if let [ast::Expr::Value(value)] = list
            && let Value::Placeholder(name) = &value.value
        {
            let number = (0..self.shortened.len()).find(|number| placeholder(*number) == *name)?;
            return self.shortened[number].take();
        }
        if list.len() < VALUES_MIN { None } else { plain_values(list) }
    }
}

/// The values of a list that holds whole numbers only, or texts only.
fn plain_values(list: &[ast::Expr]) -> Option<ArrayRef> {
    match literal(list.first()?)? {
        ListedLiteral::Number(_) => {
            let numbers = list.iter().map(|expr| {
                if let ListedLiteral::Number(number) = literal(expr)? { Some(number) } else { None }
            });
            Some(Arc::new(Int64Array::from(numbers.collect::<Option<Vec<_>>>()?)))
        }
        ListedLiteral::Text(_) => {
            let texts = list.iter().map(|expr| {
                if let ListedLiteral::Text(text) = literal(expr)? { Some(text) } else { None }
            });
            Some(Arc::new(StringArray::from(texts.collect::<Option<Vec<_>>>()?)))
        }
    }
}

enum ListedLiteral<'a> {
    Number(i64),
    Text(&'a str),
}

fn literal(expr: &ast::Expr) -> Option<ListedLiteral<'_>> {
    match expr {
        ast::Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse().ok().map(ListedLiteral::Number),
            Value::SingleQuotedString(text) => Some(ListedLiteral::Text(text)),
            _ => None,
        },
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => match literal(expr)? {
            ListedLiteral::Number(number) => number.checked_neg().map(ListedLiteral::Number),
            ListedLiteral::Text(_) => None,
        },
        _ => None,
    }
}

/// What an expression tests and the values it is tested against, when it is a call of a key set.
pub(crate) fn key_set_of(expr: &Expr) -> Option<(&Expr, &ArrayRef)> {
    let Expr::ScalarFunction(call) = expr else { return None };
    key_set_of_call(call)
}

/// The same of a call.
pub(super) fn key_set_of_call(call: &ScalarFunction) -> Option<(&Expr, &ArrayRef)> {
    let set = call.func.inner().downcast_ref::<KeySet>()?;
    Some((call.args.first()?, &set.values))
}

/// `argument IN (values)` as a function.
#[derive(Debug)]
struct KeySet {
    number: usize,
    name: String,
    values: ArrayRef,
    signature: Signature,
    /// The test for arguments of the type that came first: a statement calls it with one type.
    test: Mutex<Option<(DataType, Arc<InListExpr>)>>,
}

impl KeySet {
    fn new(number: usize, values: ArrayRef) -> Self {
        let signature = Signature::any(1, Volatility::Immutable);
        Self { number, name: name_of(number), values, signature, test: Mutex::new(None) }
    }

    fn test(&self, data_type: &DataType) -> Result<Arc<InListExpr>> {
        let mut test = lock(&self.test);
        if let Some((tested, list)) = test.as_ref()
            && tested == data_type
        {
            return Ok(list.clone());
        }
        let values = list_values_as(&self.values, data_type)?;
        let schema = argument_schema(values.data_type());
        let argument: Arc<dyn PhysicalExpr> = Arc::new(Column::new("argument", 0));
        let list = Arc::new(InListExpr::try_new_from_array(argument, values, false, &schema)?);
        *test = Some((data_type.clone(), list.clone()));
        Ok(list)
    }
}

fn argument_schema(data_type: &DataType) -> Schema {
    Schema::new(vec![Field::new("argument", data_type.clone(), true)])
}

impl PartialEq for KeySet {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.values, &other.values)
    }
}

impl Eq for KeySet {}

impl Hash for KeySet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        Arc::as_ptr(&self.values).cast::<()>().hash(state);
    }
}

impl ScalarUDFImpl for KeySet {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn display_name(&self, arguments: &[Expr]) -> Result<String> {
        let tested = arguments.first().map(ToString::to_string).unwrap_or_default();
        // Columns are distinguished by their names.
        let which = self
            .number
            .checked_sub(1)
            .map(|before| format!("{}. list of ", before + 2))
            .unwrap_or_default();
        Ok(format!("{tested} IN ({which}{} values)", self.values.len()))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = arguments.args[0].to_array(arguments.number_rows)?;
        let test = self.test(array.data_type())?;
        let array = compared_value(array, &self.values)?;
        let schema = Arc::new(argument_schema(array.data_type()));
        test.evaluate(&RecordBatch::try_new(schema, vec![array])?)
    }
}
