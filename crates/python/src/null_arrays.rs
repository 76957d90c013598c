//! Mends arrays of nothing but NULL on their way in through Arrow's C interface.
//!
//! Arrow gives such an array no buffer. polars exports it with one, a validity bitmap that says
//! nothing, and pyarrow and DuckDB take that. The reader of the `arrow` crate refuses it, so these
//! buffers are taken out of the count before it looks:
//!
//! 1. [`without_null_buffers`] puts a stream of its own before the one that is given.
//! 2. For each array that comes, [`forget_null_buffers`] walks the array beside its schema, all
//!    children and dictionaries included.

use std::ffi::{c_char, c_int};

use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::FFI_ArrowArrayStream;

/// The format of an array of nothing but NULL.
const NULL_FORMAT: &str = "n";

/// The stream that is wrapped, and the schema of its arrays once it is known.
struct InnerStream {
    stream: FFI_ArrowArrayStream,
    schema: Option<FFI_ArrowSchema>,
}

/// Wraps a stream so that its arrays of nothing but NULL have no buffers.
pub(crate) fn without_null_buffers(stream: FFI_ArrowArrayStream) -> FFI_ArrowArrayStream {
    // A stream that was released stays one: its consumer says so.
    if stream.release.is_none() {
        return stream;
    }
    let inner = Box::new(InnerStream { stream, schema: None });
    FFI_ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(inner).cast(),
    }
}

/// Takes the buffers of all arrays of nothing but NULL out of their counts.
///
/// # Safety
/// The array and all below it must be valid, of this schema, and not yet read.
pub(crate) unsafe fn forget_null_buffers(array: &mut FFI_ArrowArray, schema: &FFI_ArrowSchema) {
    if schema.format() == NULL_FORMAT {
        // Producers release by their private data, never by this count.
        array.n_buffers = 0;
    }
    // A schema that disagrees with its array is for the reader to refuse.
    let children = schema.children().count().min(array.n_children.max(0) as usize);
    if !array.children.is_null() {
        for (place, schema) in schema.children().enumerate().take(children) {
            // SAFETY: an array has as many pointers to children as it says, by Arrow's C interface.
            if let Some(child) = unsafe { (*array.children.add(place)).as_mut() } {
                // SAFETY: the child of a valid array is one, of the schema's child.
                unsafe { forget_null_buffers(child, schema) };
            }
        }
    }
    // SAFETY: the dictionary of a valid array is NULL or a valid array.
    if let (Some(values), Some(schema)) =
        (unsafe { array.dictionary.as_mut() }, schema.dictionary())
    {
        // SAFETY: as above.
        unsafe { forget_null_buffers(values, schema) };
    }
}

/// The stream that `without_null_buffers` wrapped.
///
/// # Safety
/// `stream` must be such a stream, and not released.
unsafe fn inner<'a>(stream: *mut FFI_ArrowArrayStream) -> &'a mut InnerStream {
    // SAFETY: `without_null_buffers` put the box there, and `release` alone takes it.
    unsafe { &mut *(*stream).private_data.cast::<InnerStream>() }
}

unsafe extern "C" fn get_schema(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowSchema,
) -> c_int {
    // SAFETY: Arrow's C interface calls this with its own stream, before it is released.
    let inner = unsafe { inner(stream) };
    match inner.stream.get_schema {
        // SAFETY: the pointers are those of the caller, and the stream is the one wrapped.
        Some(get_schema) => unsafe { get_schema(&raw mut inner.stream, out) },
        None => libc::EINVAL,
    }
}

unsafe extern "C" fn get_next(
    stream: *mut FFI_ArrowArrayStream,
    out: *mut FFI_ArrowArray,
) -> c_int {
    // SAFETY: as in `get_schema`.
    let inner = unsafe { inner(stream) };
    let (Some(get_schema), Some(get_next)) = (inner.stream.get_schema, inner.stream.get_next)
    else {
        return libc::EINVAL;
    };
    // Asked for once: it is the same for all arrays of a stream.
    if inner.schema.is_none() {
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: an empty schema is what a producer expects to fill.
        let status = unsafe { get_schema(&raw mut inner.stream, &raw mut schema) };
        if status != 0 {
            return status;
        }
        inner.schema = Some(schema);
    }
    // SAFETY: `out` is the caller's array to fill.
    let status = unsafe { get_next(&raw mut inner.stream, out) };
    // SAFETY: after success `out` holds an array of the stream's schema, or a released one at the
    // end.
    if let (0, Some(array), Some(schema)) = (status, unsafe { out.as_mut() }, &inner.schema)
        && !array.is_released()
    {
        // SAFETY: as above.
        unsafe { forget_null_buffers(array, schema) };
    }
    status
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: as in `get_schema`.
    let inner = unsafe { inner(stream) };
    match inner.stream.get_last_error {
        // SAFETY: the stream is the one wrapped, and its text lives until its next call.
        Some(get_last_error) => unsafe { get_last_error(&raw mut inner.stream) },
        None => std::ptr::null(),
    }
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: Arrow's C interface releases a stream once. The box came from `Box::into_raw`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<InnerStream>()));
        (*stream).private_data = std::ptr::null_mut();
        (*stream).release = None;
    }
}
