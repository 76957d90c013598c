//! Binds rows to statements as other libraries export them.
//!
//! The exported functions of `adbc_ffi` read what is bound at once. Two of them get one of ours in
//! front, which mends arrays of nothing but NULL ([`crate::null_arrays`]).

use std::sync::LazyLock;

use adbc_core::error::AdbcStatusCode;
use adbc_ffi::{FFI_AdbcDriver, FFI_AdbcError, FFI_AdbcStatement, FFIDriver};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::FFI_ArrowArrayStream;

use super::database::TonnageDriver;
use crate::null_arrays::{forget_null_buffers, without_null_buffers};

type BindFunction = unsafe extern "C" fn(
    *mut FFI_AdbcStatement,
    *mut FFI_ArrowArray,
    *mut FFI_ArrowSchema,
    *mut FFI_AdbcError,
) -> AdbcStatusCode;
type BindStreamFunction = unsafe extern "C" fn(
    *mut FFI_AdbcStatement,
    *mut FFI_ArrowArrayStream,
    *mut FFI_AdbcError,
) -> AdbcStatusCode;

/// The functions of the driver that take rows.
struct BindFunctions {
    array: Option<BindFunction>,
    stream: Option<BindStreamFunction>,
}

static OWN: LazyLock<BindFunctions> = LazyLock::new(|| {
    let driver = TonnageDriver::ffi_driver();
    BindFunctions { array: driver.StatementBind, stream: driver.StatementBindStream }
});

/// The driver as it is exported.
pub(super) struct ExportedDriver;

impl FFIDriver for ExportedDriver {
    fn ffi_driver() -> FFI_AdbcDriver {
        let mut driver = TonnageDriver::ffi_driver();
        driver.StatementBind = Some(bind);
        driver.StatementBindStream = Some(bind_stream);
        driver
    }
}

unsafe extern "C" fn bind(
    statement: *mut FFI_AdbcStatement,
    values: *mut FFI_ArrowArray,
    schema: *mut FFI_ArrowSchema,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: ADBC hands a valid array over with its schema; what is NULL is refused below.
    unsafe {
        if let (Some(array), Some(schema)) = (values.as_mut(), schema.as_ref()) {
            forget_null_buffers(array, schema);
        }
        match OWN.array {
            Some(bind) => bind(statement, values, schema, error),
            None => adbc_core::constants::ADBC_STATUS_NOT_IMPLEMENTED,
        }
    }
}

unsafe extern "C" fn bind_stream(
    statement: *mut FFI_AdbcStatement,
    stream: *mut FFI_ArrowArrayStream,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: ADBC hands the stream over: it is moved out, and the wrapped one takes its place.
    unsafe {
        if !stream.is_null() {
            let wrapped = without_null_buffers(FFI_ArrowArrayStream::from_raw(stream));
            std::ptr::write(stream, wrapped);
        }
        match OWN.stream {
            Some(bind_stream) => bind_stream(statement, stream, error),
            None => adbc_core::constants::ADBC_STATUS_NOT_IMPLEMENTED,
        }
    }
}
