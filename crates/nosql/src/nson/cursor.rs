//! A position in bytes, and the parts of values.

use super::fault::NsonFault;
use super::packed::read_packed;

pub(super) type CursorResult<T> = Result<T, NsonFault>;

/// A place in bytes.
pub(super) struct NsonCursor<'d> {
    pub(super) rest: &'d [u8],
}

impl<'d> NsonCursor<'d> {
    pub(super) fn new(rest: &'d [u8]) -> Self {
        Self { rest }
    }

    pub(super) fn text(&mut self) -> CursorResult<&'d str> {
        std::str::from_utf8(self.sized()?).map_err(|_| NsonFault::Text)
    }

    /// The bytes of the elements of an array or a map, and how many elements there are.
    pub(super) fn container(&mut self) -> CursorResult<(&'d [u8], u32)> {
        let size = i32::from_be_bytes(self.array()?);
        // The bytes of the size itself do not count, those of the number of elements do.
        let contents = usize::try_from(size).map_err(|_| NsonFault::Length(size.into()))?;
        let mut inner = NsonCursor::new(self.take(contents)?);
        let count = i32::from_be_bytes(inner.array()?);
        let left = u32::try_from(count).map_err(|_| NsonFault::Length(count.into()))?;
        Ok((inner.rest, left))
    }

    pub(super) fn sized(&mut self) -> CursorResult<&'d [u8]> {
        let length = self.packed()?;
        self.take(usize::try_from(length).map_err(|_| NsonFault::Length(length))?)
    }

    pub(super) fn packed(&mut self) -> CursorResult<i64> {
        let (number, len) = read_packed(self.rest).ok_or(NsonFault::Number)?;
        self.rest = &self.rest[len..];
        Ok(number)
    }

    pub(super) fn byte(&mut self) -> CursorResult<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn array<const N: usize>(&mut self) -> CursorResult<[u8; N]> {
        let cut_off = NsonFault::CutOff { wanted: N, left: self.rest.len() };
        let (array, rest) = self.rest.split_first_chunk().ok_or(cut_off)?;
        self.rest = rest;
        Ok(*array)
    }

    pub(super) fn take(&mut self, wanted: usize) -> CursorResult<&'d [u8]> {
        let cut_off = NsonFault::CutOff { wanted, left: self.rest.len() };
        let (taken, rest) = self.rest.split_at_checked(wanted).ok_or(cut_off)?;
        self.rest = rest;
        Ok(taken)
    }
}
