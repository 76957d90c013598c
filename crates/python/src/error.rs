//! Errors of the store as exceptions of `tonnage.errors`.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tonnage::{Error, ErrorKind};

/// The exception for an error, of the class for its kind.
pub(crate) fn to_exception(error: &Error) -> PyErr {
    exception_of(error.kind(), error.message())
}

/// The same out of a kind and a message.
pub(crate) fn exception_of(kind: ErrorKind, message: &str) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("tonnage.errors")
            .and_then(|errors| errors.getattr("of_kind"))
            .and_then(|of_kind| of_kind.call1((kind.label(), message)));
        match made {
            Ok(exception) => PyErr::from_value(exception),
            Err(_) => PyRuntimeError::new_err(format!("{}: {message}", kind.label())),
        }
    })
}

/// Turns errors of the store into exceptions.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for tonnage::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| to_exception(&error))
    }
}

/// What went wrong in Python, as an error of the store: a source of rows or keys that raised.
pub(crate) fn from_python(what: &str, error: &PyErr) -> Error {
    Error::invalid(format!("{what} raised {error}"))
}
