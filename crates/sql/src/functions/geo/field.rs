//! How a field says that its bytes are a GEOMETRY or a GEOGRAPHY: Arrow's extension
//! `geoarrow.wkb`, whose edges are spherical for the latter.

use std::collections::HashMap;

use arrow::datatypes::{DataType, Field, FieldRef};

const NAME: &str = "ARROW:extension:name";
const METADATA: &str = "ARROW:extension:metadata";
const WKB: &str = "geoarrow.wkb";
const PLANAR: &str = r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#;
const SPHERICAL: &str = r#"{"crs":"OGC:CRS84","crs_type":"authority_code","edges":"spherical"}"#;

pub(super) fn geometry(name: &str) -> Field {
    wkb(name, PLANAR)
}

pub(super) fn geography(name: &str) -> Field {
    wkb(name, SPHERICAL)
}

fn wkb(name: &str, metadata: &str) -> Field {
    let pairs = [(NAME, WKB), (METADATA, metadata)];
    let metadata: HashMap<_, _> =
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    Field::new(name, DataType::Binary, true).with_metadata(metadata)
}

/// Whether it is a GEOMETRY: a GEOGRAPHY is none.
pub(super) fn is_geometry(field: &FieldRef) -> bool {
    is_wkb(field) && !is_geography(field)
}

pub(super) fn is_geography(field: &FieldRef) -> bool {
    let is_spherical = |metadata: &String| metadata.contains("spherical");
    is_wkb(field) && field.metadata().get(METADATA).is_some_and(is_spherical)
}

fn is_wkb(field: &FieldRef) -> bool {
    field.metadata().get(NAME).is_some_and(|name| name == WKB)
}
