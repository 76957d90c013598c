//! Keys of key/value pairs.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use tonnage::Key;

use crate::error::OrRaise;
use crate::value::bytes_of;

/// A key: text such as `/users/42/-/mail`, text without a leading `/` or bytes for one major
/// component, or a tuple of a major path and a minor path, each a sequence of components.
///
/// # Errors
/// For text that is not a key; `TypeError` for another object.
pub(crate) fn to_native_key(object: &Bound<'_, PyAny>) -> PyResult<Key> {
    if let Ok(text) = object.cast::<PyString>() {
        let text = text.to_str()?;
        return match text.starts_with('/') {
            true => text.parse::<Key>().or_raise(),
            false => Ok(Key::of_major([text.as_bytes()])),
        };
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(Key::of_major([bytes.as_bytes()]));
    }
    let (major, minor) = object.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
    Ok(Key::new(components(&major)?, components(&minor)?))
}

fn components(path: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    path.try_iter()?.map(|component| bytes_of(&component?)).collect()
}

/// A key as a tuple of two tuples of bytes.
pub(crate) fn from_native_key<'py>(py: Python<'py>, key: &Key) -> PyResult<Bound<'py, PyTuple>> {
    let path = |components: &[Vec<u8>]| {
        PyTuple::new(py, components.iter().map(|component| PyBytes::new(py, component)))
    };
    PyTuple::new(py, [path(key.major())?, path(key.minor())?])
}
