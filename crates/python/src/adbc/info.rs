//! The driver's answer to GetInfo.

use std::collections::HashSet;
use std::sync::Arc;

use adbc_core::error::Result;
use adbc_core::options::InfoCode;
use adbc_core::schemas::GET_INFO_SCHEMA;
use arrow::array::{
    ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, UInt32Array, UnionArray,
    new_empty_array,
};
use arrow::datatypes::DataType;

use super::error::internal;
use super::reader::{BoxedReader, single_batch_reader};

/// The members of the union of values.
const TEXT: i8 = 0;
const TRUTH: i8 = 1;
const NUMBER: i8 = 2;

enum InfoValue {
    Text(String),
    Truth(bool),
    Number(i64),
}

/// The answer for each code.
fn info_values() -> [(InfoCode, InfoValue); 9] {
    let version = || InfoValue::Text(env!("CARGO_PKG_VERSION").to_owned());
    let arrow = || InfoValue::Text(format!("v{}", arrow::ARROW_VERSION));
    [
        (InfoCode::VendorName, InfoValue::Text("Tonnage".to_owned())),
        (InfoCode::VendorVersion, version()),
        (InfoCode::VendorArrowVersion, arrow()),
        (InfoCode::VendorSql, InfoValue::Truth(true)),
        (InfoCode::VendorSubstrait, InfoValue::Truth(false)),
        (InfoCode::DriverName, InfoValue::Text("Tonnage ADBC driver".to_owned())),
        (InfoCode::DriverVersion, version()),
        (InfoCode::DriverArrowVersion, arrow()),
        (InfoCode::DriverAdbcVersion, InfoValue::Number(1_001_000)),
    ]
}

/// What is known of these codes; of all, without them.
pub(super) fn info(codes: Option<HashSet<InfoCode>>) -> Result<BoxedReader> {
    let (mut names, mut types, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let (mut texts, mut truths, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for (code, told) in info_values() {
        if codes.as_ref().is_some_and(|codes| !codes.contains(&code)) {
            continue;
        }
        names.push(u32::from(&code));
        // The union is dense: a value is in the array of its type, and the offset finds it.
        let (member, place) = match told {
            InfoValue::Text(text) => {
                texts.push(text);
                (TEXT, texts.len())
            }
            InfoValue::Truth(truth) => {
                truths.push(truth);
                (TRUTH, truths.len())
            }
            InfoValue::Number(number) => {
                numbers.push(number);
                (NUMBER, numbers.len())
            }
        };
        types.push(member);
        places.push(place as i32 - 1);
    }
    let DataType::Union(fields, _) = GET_INFO_SCHEMA.field(1).data_type() else {
        return Err(super::error::invalid("the values are not a union"));
    };
    let members: Vec<ArrayRef> = fields
        .iter()
        .map(|(member, field)| match member {
            TEXT => Arc::new(StringArray::from(std::mem::take(&mut texts))) as ArrayRef,
            TRUTH => Arc::new(BooleanArray::from(std::mem::take(&mut truths))),
            NUMBER => Arc::new(Int64Array::from(std::mem::take(&mut numbers))),
            // The protocol's schema has more types, which need arrays although no value has them.
            _ => new_empty_array(field.data_type()),
        })
        .collect();
    let values = UnionArray::try_new(fields.clone(), types.into(), Some(places.into()), members);
    let columns = |values| vec![Arc::new(UInt32Array::from(names)) as ArrayRef, Arc::new(values)];
    values
        .and_then(|values| RecordBatch::try_new(GET_INFO_SCHEMA.clone(), columns(values)))
        .map(single_batch_reader)
        .map_err(|error| internal(&error))
}
