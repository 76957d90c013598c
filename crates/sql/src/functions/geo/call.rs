//! Declares a function on places, and hands it its arguments.
//!
//! A constant stays one: it is read once for a batch, and not copied for each row. So these
//! functions have a declaration of their own beside [`crate::functions::Scalar`].

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, Float64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};
use geo::Geometry;

use super::geometry::{parse_wkt, point_of_wkb, read_wkb, type_name};

/// A function of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct GeoFunction {
    pub(super) name: &'static str,
    /// The form to tell when the number of arguments is wrong.
    pub(super) form: &'static str,
    /// The least and the greatest number of arguments.
    pub(super) count: (usize, usize),
    /// The field that it gives, of its own name and those of its arguments.
    pub(super) gives: fn(&'static str, &[FieldRef]) -> Result<Field>,
    pub(super) work: fn(&Call<'_>) -> Result<ArrayRef>,
}

impl GeoFunction {
    pub(super) fn function(&self) -> ScalarUDF {
        let any = vec![TypeSignature::VariadicAny, TypeSignature::Nullary];
        let signature = Signature::one_of(any, Volatility::Immutable);
        ScalarUDF::new_from_impl(Declared { function: *self, signature })
    }
}

#[derive(Debug)]
struct Declared {
    function: GeoFunction,
    signature: Signature,
}

impl PartialEq for Declared {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name
    }
}

impl Eq for Declared {}

impl Hash for Declared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl ScalarUDFImpl for Declared {
    fn name(&self) -> &str {
        self.function.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        exec_err!("{} tells its type by its arguments", self.function.name)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let GeoFunction { name, form, count: (least, most), gives, .. } = self.function;
        let given = arguments.arg_fields.len();
        if given < least || given > most {
            return plan_err!("write {form}: {given} arguments do not fit");
        }
        gives(name, arguments.arg_fields).map(Arc::new)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let call =
            Call { name: self.function.name, values: &arguments.args, rows: arguments.number_rows };
        (self.function.work)(&call).map(ColumnarValue::Array)
    }
}

/// The arguments of a call, for a number of rows.
pub(super) struct Call<'a> {
    pub(super) name: &'static str,
    values: &'a [ColumnarValue],
    pub(super) rows: usize,
}

/// An argument: of every row the same, or of each its own.
pub(super) enum Places {
    One(Option<Geometry>),
    Each(BinaryArray),
    /// Well-known text.
    Texts(StringArray),
}

/// A number, likewise.
pub(super) enum Numbers {
    One(Option<f64>),
    Each(Float64Array),
}

impl Call<'_> {
    pub(super) fn has(&self, place: usize) -> bool {
        place < self.values.len()
    }

    /// An argument that is a place: WKB, or text as WKT.
    pub(super) fn places(&self, place: usize) -> Result<Places> {
        let (array, is_one) = self.array(place)?;
        let places = match array.data_type() {
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::Null => {
                Places::Each(cast(&array, &DataType::Binary)?.as_binary().clone())
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Places::Texts(cast(&array, &DataType::Utf8)?.as_string().clone())
            }
            other => {
                return exec_err!(
                    "{} takes a geometry in place {}, not {other}: make one with ST_Point(lon, lat) or ST_GeomFromText('POLYGON ((...))')",
                    self.name,
                    place + 1
                );
            }
        };
        match is_one {
            true => Ok(Places::One(places.get(0)?)),
            false => Ok(places),
        }
    }

    /// An argument that is a number.
    pub(super) fn numbers(&self, place: usize) -> Result<Numbers> {
        let (array, is_one) = self.array(place)?;
        if !array.data_type().is_numeric() && !array.data_type().is_null() {
            return exec_err!(
                "{} takes a number in place {}, not {}",
                self.name,
                place + 1,
                array.data_type()
            );
        }
        let numbers = cast(&array, &DataType::Float64)?.as_primitive::<Float64Type>().clone();
        match is_one {
            true => Ok(Numbers::One(numbers.is_valid(0).then(|| numbers.value(0)))),
            false => Ok(Numbers::Each(numbers)),
        }
    }

    /// An argument that is a whole number: as a DOUBLE a cell would lose digits.
    pub(super) fn whole_numbers(&self, place: usize) -> Result<ArrayRef> {
        let array = self.values[place].to_array(self.rows)?;
        match array.data_type().is_integer() || array.data_type().is_null() {
            true => Ok(array),
            false => exec_err!(
                "{} takes a whole number in place {}, not {}",
                self.name,
                place + 1,
                array.data_type()
            ),
        }
    }

    /// An argument that is text.
    pub(super) fn texts(&self, place: usize) -> Result<StringArray> {
        let array = self.values[place].to_array(self.rows)?;
        match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
                Ok(cast(&array, &DataType::Utf8)?.as_string::<i32>().clone())
            }
            other => exec_err!("{} takes text in place {}, not {other}", self.name, place + 1),
        }
    }

    /// What it gives of each row, as an array.
    pub(super) fn collect<T, A: FromIterator<Option<T>> + Array + 'static>(
        &self,
        of_row: impl FnMut(usize) -> Result<Option<T>>,
    ) -> Result<ArrayRef> {
        Ok(Arc::new((0..self.rows).map(of_row).collect::<Result<A>>()?))
    }

    /// An argument, and whether it is the same for all rows.
    fn array(&self, place: usize) -> Result<(ArrayRef, bool)> {
        match &self.values[place] {
            ColumnarValue::Array(array) => Ok((array.clone(), false)),
            ColumnarValue::Scalar(value) => Ok((value.to_array()?, true)),
        }
    }
}

impl Places {
    /// Whether a row can be read.
    pub(super) fn check(&self, row: usize) -> Result<()> {
        match self {
            Self::Each(bytes) if point_of_wkb(bytes.value(row)).is_some() => Ok(()),
            other => other.get(row).map(drop),
        }
    }

    /// The position of a row.
    pub(super) fn get(&self, row: usize) -> Result<Option<Geometry>> {
        match self {
            Self::One(place) => Ok(place.clone()),
            Self::Each(bytes) => {
                bytes.is_valid(row).then(|| read_wkb(bytes.value(row))).transpose()
            }
            Self::Texts(texts) => {
                texts.is_valid(row).then(|| parse_wkt(texts.value(row))).transpose()
            }
        }
    }

    /// The coordinates of a point, or what else a row holds.
    pub(super) fn point_or_other(
        &self,
        row: usize,
    ) -> Result<Option<std::result::Result<[f64; 2], Geometry>>> {
        if let Self::Each(bytes) = self
            && bytes.is_valid(row)
            && let Some(point) = point_of_wkb(bytes.value(row))
        {
            return Ok(Some(Ok(point)));
        }
        Ok(self.get(row)?.map(|place| match place {
            Geometry::Point(point) => Ok([point.x(), point.y()]),
            other => Err(other),
        }))
    }

    /// The coordinates of a row whose place is a point. `name` is that of the function, which
    /// takes no other.
    pub(super) fn point(&self, row: usize, name: &str) -> Result<Option<[f64; 2]>> {
        match self.point_or_other(row)? {
            Some(Err(other)) => exec_err!("{name} takes points, not a {}", type_name(&other)),
            point => Ok(point.and_then(std::result::Result::ok)),
        }
    }
}

impl Numbers {
    pub(super) fn get(&self, row: usize) -> Option<f64> {
        match self {
            Self::One(number) => *number,
            Self::Each(numbers) => numbers.is_valid(row).then(|| numbers.value(row)),
        }
    }
}
